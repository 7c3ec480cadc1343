using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.CacheScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class CacheTests : Exploring
{
    public CacheTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Take_OfTheOnlyBlock_GoesToOneThread(bool neighbours) =>
        ExpectNoFailure(() => new CacheScenario(1, neighbours, Take, Take, Take));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Put_AtTheSameTime_LosesNothing(bool neighbours) => ExpectNoFailure(() => new CacheScenario(2, neighbours, Put, Put));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Put_WhileAnotherTakes_LosesNothing(bool neighbours) => ExpectNoFailure(() => new CacheScenario(2, neighbours, Put, Take));

    [Fact]
    public void PutAndRent_OfTwoThatTakeEachOthersSlots_LosesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(2, neighbours: false, PutAndRent, PutAndRent));

    [Fact]
    public void Drain_WhileAnotherTakes_TakesEachBlockOnce() =>
        ExpectNoFailure(static () => new CacheScenario(2, neighbours: false, Take, Drain));

    [Fact]
    public void Drain_WhileAnotherPuts_LosesNothing() => ExpectNoFailure(static () => new CacheScenario(2, neighbours: false, Put, Drain));

    [Fact]
    public void Drain_WhileAnotherPutsAndRents_LosesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(2, neighbours: false, PutAndRent, DrainByLooks));

    [Fact]
    public void DrainOfSome_WhileAnotherRentsAndReturns_LosesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, RentAndReturn, DrainByLooks));

    [Fact]
    public void Drain_ByTwoThreadsWhileAnotherPuts_LosesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, Put, Drain, Drain));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Rent_OfTheOnlyBlock_GoesToOneThread(bool neighbours) =>
        ExpectNoFailure(() => new CacheScenario(1, neighbours, Take, RentOne));

    [Fact]
    public void Rent_WhileAnotherReturnsTheOnlyBlockAndRentsAgain_GoesToOneThread() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, PutAndRent, RentOne));

    [Fact]
    public void Rent_WhileTheOnlyBlockIsDrained_LosesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: true, Drain, RentOne));

    [Fact]
    public void TrimAll_WhileAnotherTakes_TakesNoMemoryInUse() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, Take, TrimAll));

    [Fact]
    public void TrimAll_WhileAnotherPuts_TakesNoMemoryInUse() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, Put, TrimAll));

    [Fact]
    public void Close_WhileAnotherTakes_LeavesNothing() =>
        ExpectNoFailure(static () => new CacheScenario(1, neighbours: false, TakeOrRelease, Close));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Close_WhileAnotherPuts_LeavesNothing(bool neighbours) =>
        ExpectNoFailure(() => new CacheScenario(1, neighbours, Put, Close));

    [Fact]
    public void Take_ThatReadsAndLeavesTheBlockThere_IsFound() =>
        ExpectFailure(
            new Weakness("BlockRecord.TryLeave", "CompareExchange", WeaknessKind.ComparesNothing), "Take threw",
            static () => new CacheScenario(1, neighbours: false, Take, Take));

    [Fact]
    public void Drain_ThatDoesNotCompare_IsFound() =>
        ExpectFailure(
            new Weakness("BlockRecord.TryLeave", "CompareExchange", WeaknessKind.ComparesNothing), "RentOne threw",
            static () => new CacheScenario(1, neighbours: false, Take, TrimAll, RentOne));

    [Fact]
    public void Put_ThatOrdersNothing_IsFound() =>
        ExpectFailure(
            new Weakness("ProcessBarrier.Publish", "Write", WeaknessKind.OrdersNothing), "Nothing orders",
            static () => new CacheScenario(1, neighbours: false, Put, RentOne));

    [Fact]
    public void Close_WithoutItsFence_IsFound() =>
        ExpectFailure(
            new Weakness("ProcessBarrier.Flush", "MemoryBarrierProcessWide", WeaknessKind.OrdersNothing), "Assert.Equal() Failure",
            static () => new CacheScenario(1, neighbours: false, Put, Close));

    [Fact]
    public void Return_ThatDoesNotLookWhetherThePoolIsClosed_IsFound() =>
        ExpectFailure(
            new Weakness("UniformUnmanagedMemoryPool.IsClosed", "Read", WeaknessKind.ReadsDefault), "Assert.Equal() Failure",
            static () => new CacheScenario(1, neighbours: false, Put, Close));
}

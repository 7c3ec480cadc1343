using Interleaving;
using Xunit;
using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.SlotScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class SlotTests : Exploring
{
    public SlotTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Drain_WhileTheOwnerTakes_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(2, Take, Drain));

    [Fact]
    public void Drain_WhileTheOwnerPuts_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(2, Put, Drain));

    [Fact]
    public void DrainOfSome_WhileTheOwnerTakes_TakesEachBlockOnce() => ExpectNoFailure(static () => new SlotScenario(2, Take, DrainByLooksAndRent));

    [Fact]
    public void DrainOfSome_WhileTheOwnerRentsAndReturns_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(1, Rent, DrainByLooks));

    [Fact]
    public void Rent_OfTheOnlyBlockWhileTheOwnerTakesIt_GoesToOneOfThem() => ExpectNoFailure(static () => new SlotScenario(1, Take, Rent));

    [Fact]
    public void TrimAll_WhileTheOwnerTakes_TakesNoMemoryInUse() => ExpectNoFailure(static () => new SlotScenario(1, Take, TrimAll));

    [Fact]
    public void TrimAll_WhileTheOwnerPuts_TakesNoMemoryInUse() => ExpectNoFailure(static () => new SlotScenario(1, Put, TrimAll));

    [Fact]
    public void Close_WhileTheOwnerTakes_LeavesNothing() => ExpectNoFailure(static () => new SlotScenario(1, TakeOrRelease, Close));

    [Fact]
    public void Close_WhileTheOwnerPuts_LeavesNothing() => ExpectNoFailure(static () => new SlotScenario(1, Put, Close));

    [Fact]
    public void Drain_OfTwoAtOnceWhileTheOwnerPuts_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(1, Put, Drain, Drain));

    [Fact]
    public void Drain_WithoutTheFence_IsFound() =>
        ExpectFailure(
            new Weakness("AsymmetricFence.Reach", "MemoryBarrierProcessWide", WeaknessKind.DoesNothing), "is in two hands",
            static () => new SlotScenario(1, Take, DrainByLooksAndRent));

    [Fact]
    public void Drain_ThatDoesNotLookWhetherTheOwnerIsIn_IsFound() =>
        ExpectFailure(
            new Weakness("ThreadSlots.TryTakeAll", "Read", WeaknessKind.ReadsDefault), "is in two hands",
            static () => new SlotScenario(1, Take, DrainByLooksAndRent));
}

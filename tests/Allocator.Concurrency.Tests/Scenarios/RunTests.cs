using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.RunScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class RunTests : Exploring
{
    public RunTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Rent_OfTheOnlyRun_GoesToOneThread() => ExpectNoFailure(static () => new RunScenario(UseRun, UseRun));

    [Fact]
    public void Rent_OfARunThatASingleSplits_GoesToOneThread() => ExpectNoFailure(static () => new RunScenario(UseRun, UseBlock));

    [Fact]
    public void Put_WhileAnotherSplits_LosesNothing() => ExpectNoFailure(static () => new RunScenario(PutRun, UseBlock));

    [Fact]
    public void Put_AndRentOfABlockWhileAnotherDrains_LosesNothing() =>
        ExpectNoFailure(static () => new RunScenario(PutRunAndRentBlock, Drain));

    [Fact]
    public void Drain_ByTwoThreads_PutsTheRunBackOnce() => ExpectNoFailure(static () => new RunScenario(Drain, Drain));

    [Fact]
    public void Drain_WhileAnotherTakesTheRun_LosesNothing() => ExpectNoFailure(static () => new RunScenario(UseRun, Drain));

    [Fact]
    public void Drain_WhileAnotherPuts_LosesNothing() => ExpectNoFailure(static () => new RunScenario(PutRun, Drain));

    [Fact]
    public void TrimAll_WhileAnotherTakesTheRun_TakesNoMemoryInUse() => ExpectNoFailure(static () => new RunScenario(UseRun, TrimAll));

    [Fact]
    public void TrimAll_WhileAnotherPuts_TakesNoMemoryInUse() => ExpectNoFailure(static () => new RunScenario(PutRun, TrimAll));

    [Fact]
    public void Take_ThatReadsAndLeavesTheRunThere_IsFound() =>
        ExpectFailure(
            new Weakness("BlockRecord.TryLeave", "CompareExchange", WeaknessKind.ComparesNothing), "Nothing orders",
            static () => new RunScenario(UseRun, UseRun));

    [Fact]
    public void Put_ThatOrdersNothing_IsFound() =>
        ExpectFailure(
            new Weakness("ProcessBarrier.Publish", "Write", WeaknessKind.OrdersNothing), "Nothing orders",
            static () => new RunScenario(PutRun, UseRun));
}

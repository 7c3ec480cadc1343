using Allocator.Concurrency.Interleaving;
using Xunit;
using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

public sealed class AdmittedTests : Exploring
{
    public AdmittedTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Return_WhileARequestBeginsToWait_ServesIt() => ExpectNoFailure(static () => new AdmittedScenario(1).Returns().Waits());

    [Fact]
    public void ReturnAndRent_WhileARequestBeginsToWait_ServesEither() =>
        ExpectNoFailure(static () => new AdmittedScenario(1).ReturnsAndRents().Waits());

    [Fact]
    public void Drain_OfAdmittedBlocksBesideAReturn_ReturnsEachPermitOnce() =>
        ExpectNoFailure(static () => new AdmittedScenario(1).Returns().Drains());

    [Fact]
    public void Return_ThatDoesNotLookForWaiters_IsFound() =>
        ExpectFailure(
            new Weakness("BudgetQueue.HasWaiters", "Read", WeaknessKind.ReadsDefault), "waits",
            static () => new AdmittedScenario(1).Returns().Waits());

    [Fact]
    public void Wait_WithoutItsFence_IsFound() =>
        ExpectFailure(
            new Weakness("ProcessBarrier.Flush", "MemoryBarrierProcessWide", WeaknessKind.OrdersNothing), "waits",
            static () => new AdmittedScenario(1).Returns().Waits());
}

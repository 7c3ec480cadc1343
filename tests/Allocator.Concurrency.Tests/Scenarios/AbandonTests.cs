using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.AbandonScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class AbandonTests : Exploring
{
    public AbandonTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Finalizer_BesideDispose_OneOfThemReturnsTheMemory() =>
        ExpectNoFailure(static () => new AbandonScenario(AbandonedMemory.Reuse, RunFinalizer, RunBackground, DisposeOwner));

    [Fact]
    public void Finalizer_BesideDisposeAndTheNextRenter_LeavesTheNextRentAlone() =>
        ExpectNoFailure(static () => new AbandonScenario(AbandonedMemory.Reuse, FinalizeAndRunBackground, DisposeOwner, ClaimTwo));

    [Fact]
    public void Finalizer_BesideDisposeAndTheBackground_LeavesTheQuarantineOnce() =>
        ExpectNoFailure(static () => new AbandonScenario(AbandonedMemory.Quarantine, RunFinalizerTwice, RunBackground, DisposeOwner));

    [Fact]
    public void Finalizer_TwiceBesideTheBackground_RecyclesOnce() =>
        ExpectNoFailure(static () => new AbandonScenario(AbandonedMemory.Quarantine, RunFinalizerTwice, RunBackground));

    [Fact]
    public void Finalizer_ThatDoesNotAskWhetherItsMemoryHasAnotherGuard_IsFound() =>
        ExpectFailure(
            new Weakness("BlockGuard.IsReplaced", "Read", WeaknessKind.ReadsDefault),
            "A finalizer has taken another guard's rent",
            static () => new AbandonScenario(AbandonedMemory.Reuse, FinalizeAndRunBackground, DisposeOwner, ClaimTwo));
}

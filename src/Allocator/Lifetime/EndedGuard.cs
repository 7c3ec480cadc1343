using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// A guard without memory. An owner references it in place of its own guard when the rent is over. Otherwise a disposed owner in a field
/// would keep the guard reachable, and the next rent of the memory would not be found if it were abandoned.
/// </summary>
internal sealed class EndedGuard : LifetimeGuard
{
    public static readonly EndedGuard Instance = new(null);

    public EndedGuard(AllocationTrace? trace)
        : base(new RentState())
    {
        // No generation has this flag, so IsHeld and Dispose fail for every generation.
        Record.State = RentState.Abandoned;
        RentTrace = trace;
        Trace = trace;
    }

    public AllocationTrace? RentTrace { get; }

    /// <summary>Makes <see cref="Instance"/> while an exception has a caller. A type initializer that fails once fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(Instance);

    protected override void EndRent(bool ofLease) => Debug.Fail("No generation has this state.");
}

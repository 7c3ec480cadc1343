using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// What an owner references in place of its guard when its rent is over: a guard without memory. A disposed owner that stays in a field
/// would otherwise keep the guard reachable, and the next rent of the memory would not be found when it is abandoned.
/// </summary>
internal sealed class EndedGuard : LifetimeGuard
{
    public static readonly EndedGuard Instance = new(null);

    public EndedGuard(AllocationTrace? trace)
        : base(new RentState())
    {
        // No generation has this flag, so nothing is held here, nor can be disposed.
        Record.State = RentState.Abandoned;
        RentTrace = trace;
        Trace = trace;
    }

    /// <summary>Gets what is known of the rent, where it was traced.</summary>
    public AllocationTrace? RentTrace { get; }

    /// <summary>Makes <see cref="Instance"/> where an exception has a caller: a type initializer that fails once fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(Instance);

    protected override void EndRent(bool ofLease) => Debug.Fail("No generation has this state.");
}

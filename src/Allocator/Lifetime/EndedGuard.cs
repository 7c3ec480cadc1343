using System;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// What an owner holds in place of its guard when its rent is over: a guard that holds nothing, for no generation. A disposed owner that lingers somewhere
/// would otherwise keep the guard reachable, and whoever rents the memory next and abandons it would never be found.
/// </summary>
internal sealed class EndedGuard : LifetimeGuard
{
    public static readonly EndedGuard Instance = new(null);

    /// <param name="trace">What is known of the rent, where it was traced.</param>
    public EndedGuard(AllocationTrace? trace)
        : base(new BlockState[1], 0)
    {
        Record.State = GuardState.Abandoned;
        RentTrace = trace;
    }

    /// <summary>Gets what is known of the rent, where it was traced.</summary>
    public AllocationTrace? RentTrace { get; }

    /// <summary>Makes <see cref="Instance"/>, which every Dispose needs, where an exception still has a caller: a type initializer that fails for want of memory fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(Instance);

    protected override void GiveBack()
    {
        // No generation has this state: it never comes here.
    }
}

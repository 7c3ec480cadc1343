using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>What all guards of one allocator share.</summary>
internal sealed class LifetimePolicy
{
    public LifetimePolicy(AllocatorCounters counters, Clock clock, Quarantine quarantine)
    {
        Counters = counters;
        Clock = clock;
        Quarantine = quarantine;
    }

    public AllocatorCounters Counters { get; }

    public Clock Clock { get; }

    public Quarantine Quarantine { get; }

    /// <summary>Gets the name that the user gave the allocator.</summary>
    public string? AllocatorName { get; init; }

    public AbandonedMemory Abandoned { get; init; }

    public bool ClearOnReturn { get; init; }

    /// <summary>Gets how long abandoned memory stays in quarantine at least.</summary>
    public long QuarantineMilliseconds { get; init; }
}

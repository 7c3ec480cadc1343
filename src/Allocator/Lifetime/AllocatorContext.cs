using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>What all guards of one allocator share.</summary>
internal sealed class AllocatorContext(AllocatorCounters counters, Clock clock, Quarantine quarantine)
{
    /// <summary>A guard of small memory from a heap that lies idle, for the next.</summary>
    public MappingGuard? IdleGuard;

    public AllocatorCounters Counters { get; } = counters;

    public Clock Clock { get; } = clock;

    public Quarantine Quarantine { get; } = quarantine;

    /// <summary>Gets or sets whether the allocator has been closed: abandoned memory then goes with the next collection.</summary>
    public bool IsClosed { get; set; }

    /// <summary>Gets whether memory that comes and goes calls code of the user's.</summary>
    public bool HasHooks { get; init; }

    /// <summary>Gets the thread for what no caller can do.</summary>
    public BackgroundThread Thread => UserCallbacks.ThreadFor(HasHooks);

    /// <summary>Gets how much memory the allocator may have. Without a budget: as much as the system gives.</summary>
    public MemoryBudget Budget { get; init; } = MemoryBudget.Unlimited;

    /// <summary>Gets whether memory is made resident before its rent; null: if a limit counts what is resident.</summary>
    public bool? PopulateMemory { get; init; }

    /// <summary>
    /// Gets whether blocks and mappings are granted and populated before a rent, as far as it reaches; otherwise they are granted as a
    /// whole before they are committed.
    /// </summary>
    public bool Populates => PopulateMemory ?? (Budget.HonorsLimit && Budget.Headroom?.Limits.LimitsResident == true);

    /// <summary>Gets the name that the user gave the allocator.</summary>
    public string? AllocatorName => Counters.AllocatorName;

    public AbandonedMemory Abandoned { get; init; }

    public bool ClearOnReturn { get; init; }

    /// <summary>Gets whether collections may be asked for to find abandoned memory.</summary>
    public bool CollectsToFindAbandoned { get; init; }

    /// <summary>Gets how long abandoned memory stays in quarantine at least.</summary>
    public long QuarantineMilliseconds { get; init; }
}

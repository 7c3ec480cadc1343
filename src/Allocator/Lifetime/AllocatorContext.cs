using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>What all guards of one allocator share.</summary>
internal sealed class AllocatorContext(AllocatorCounters counters, Clock clock, Quarantine quarantine, MemoryBudget? budget = null)
{
    /// <summary>An idle guard for small memory from a heap. The next rent takes it.</summary>
    public MappingGuard? IdleGuard;

    public AllocatorCounters Counters { get; } = counters;

    public Clock Clock { get; } = clock;

    public Quarantine Quarantine { get; } = quarantine;

    /// <summary>Gets or sets whether the allocator has been closed: abandoned memory then goes with the next collection.</summary>
    public bool IsClosed { get; set; }

    /// <summary>Gets whether committing and releasing memory calls user code.</summary>
    public bool HasHooks { get; init; }

    public BackgroundThread Thread => UserCallbacks.ThreadFor(HasHooks);

    /// <summary>Gets the budget of the allocator. Without one it may have as much as the system supplies.</summary>
    public MemoryBudget Budget { get; } = budget ?? new MemoryBudget();

    /// <summary>
    /// Gets whether memory is made resident before its rent; null if that depends on whether a limit counts resident memory.
    /// </summary>
    public bool? PopulateMemory { get; init; }

    /// <summary>
    /// Gets whether blocks and mappings are granted and populated before a rent, as far as the renter can reach. Otherwise they are
    /// granted as a whole before they are committed.
    /// </summary>
    public bool Populates => PopulateMemory ?? (Budget.HonorsLimit && Budget.Headroom?.Limits.LimitsResident == true);

    public AbandonedMemory Abandoned { get; init; }

    public bool ClearOnReturn { get; init; }

    /// <summary>Gets whether collections are regularly forced to find abandoned memory; null if only after some was found.</summary>
    public bool? CollectsToFindAbandoned { get; init; }

    public bool SearchesRegularly => CollectsToFindAbandoned ?? Counters.Abandoned > 0;

    public long QuarantineMilliseconds { get; init; }
}

using LoadResizeSave.Pixels;

namespace LoadResizeSave.Limits;

/// <summary>The job under one condition.</summary>
/// <param name="LimitMegabytes">The memory cgroup's limit in MiB; null: it has none, and only counts.</param>
/// <param name="BudgetMegabytes">The allocator's budget in MiB, where it has one.</param>
internal sealed record JobTrial(int? LimitMegabytes, int Parallelism, AllocatorKind Allocator, int? BudgetMegabytes);

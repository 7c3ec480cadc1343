using LoadResizeSave.Pixels;

namespace ThumbnailService.Trials;

/// <summary>The service under one condition.</summary>
/// <param name="LimitMegabytes">The limit of its cgroup in MiB; null: it only counts.</param>
internal sealed record ServiceTrial(string Name, AllocatorKind Allocator, int? BudgetMegabytes, int? LimitMegabytes);

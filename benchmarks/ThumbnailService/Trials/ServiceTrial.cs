using LoadResizeSave.Pixels;

namespace ThumbnailService.Trials;

/// <summary>The service under one condition.</summary>
/// <param name="Name">What it is called in the results.</param>
/// <param name="Allocator">Whose memory the pixels are in.</param>
/// <param name="BudgetMegabytes">Its budget in MiB, where it has one.</param>
/// <param name="LimitMegabytes">The limit of its cgroup in MiB; null: it only counts.</param>
internal sealed record ServiceTrial(string Name, AllocatorKind Allocator, int? BudgetMegabytes, int? LimitMegabytes);

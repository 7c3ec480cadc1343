namespace ThumbnailService.Trials;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of pictures; null: synthetic photographs are made first.</param>
/// <param name="LimitMegabytes">The cgroup's limit in MiB.</param>
/// <param name="Requests">The uploads in each trial.</param>
/// <param name="Clients">The uploads at once.</param>
/// <param name="IsQuick">Whether small photographs will do.</param>
internal sealed record ServiceLoad(string? Input, int LimitMegabytes, int Requests, int Clients, bool IsQuick);

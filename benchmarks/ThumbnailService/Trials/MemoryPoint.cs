namespace ThumbnailService.Trials;

/// <summary>What the service held at one moment.</summary>
/// <param name="ChargedBytes">What its cgroup was charged with; where there is none, the resident set.</param>
internal readonly record struct MemoryPoint(double Seconds, long ResidentBytes, long ChargedBytes);

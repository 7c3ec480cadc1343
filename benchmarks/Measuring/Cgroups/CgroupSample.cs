namespace Measuring.Cgroups;

/// <summary>What was charged to a cgroup at one moment.</summary>
/// <param name="Seconds">Since the watch began.</param>
/// <param name="UsedBytes">What was charged, cached files included.</param>
public readonly record struct CgroupSample(double Seconds, long UsedBytes);

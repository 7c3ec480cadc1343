namespace LoadResizeSave.Containers;

/// <summary>Who holds memory at one moment. All in bytes.</summary>
/// <param name="Seconds">Since the child began.</param>
/// <param name="Charged">What its cgroup is charged with and the kernel cannot drop; 0 where there is no cgroup.</param>
/// <param name="Resident">The resident set.</param>
/// <param name="Store">What the way of having memory holds: outstanding and idle.</param>
/// <param name="ManagedHeap">What the collector holds.</param>
/// <param name="Malloc">What the C library holds of the system, used or free.</param>
/// <param name="MallocFree">How much of that is free.</param>
internal readonly record struct MemoryReading(double Seconds, long Charged, long Resident, long Store, long ManagedHeap, long Malloc, long MallocFree);

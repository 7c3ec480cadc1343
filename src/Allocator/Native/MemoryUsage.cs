namespace Allocator.Native;

/// <summary>How much there is, and how much of it cannot be had any more without giving something up. In bytes.</summary>
internal readonly record struct MemoryUsage(long UsedBytes, long TotalBytes);

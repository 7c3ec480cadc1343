namespace Allocator.Benchmarks.Contenders;

/// <summary>Makes the allocators that are measured.</summary>
internal static class MeasuredPool
{
    /// <summary>
    /// Makes an allocator whose pool holds at most 1 GiB. That is enough for 32 threads with four blocks each, whatever the machine's
    /// memory; blocks that were not touched cost addresses only.
    /// </summary>
    public static MemoryAllocator Create(HugePages hugePages = HugePages.Auto)
        => MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 1024, HugePages = hugePages });

    /// <summary>Makes an allocator that retains nothing, so that the memory of every buffer is new.</summary>
    public static MemoryAllocator CreateUnpooled(HugePages hugePages)
        => MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0, HugePages = hugePages });
}

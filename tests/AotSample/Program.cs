using Allocator;
using AotSample;
using ContractSuite;
using ContractSuite.Loading;

// Drives each part of the library once after native compilation. Generic code over types that only appear here is
// what a compiler ahead of time may have left out, hence the several element types.
if (args is ["loop", string operation, string count])
{
    return Loops.Run(operation, count);
}

Checks checks = new();
if (args is ["stress"])
{
    LoadContract.Run(checks, TimeSpan.FromSeconds(3));
    return checks.Report();
}

using (MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "aot" }))
{
    checks.Run("owner of 200 kB", () => Uses.Owner<byte>(allocator, 200_000, 0x5A));
    checks.Run("owner of one block", () => Uses.Owner<long>(allocator, 400_000, -3));
    checks.Run("owner beyond the pool", () => Uses.Owner(allocator, 3_000_000, new Rgba64(1, 2, 3, 4)));
    checks.Run("aligned owner", () => Uses.AlignedOwner(allocator));
    checks.Run("group", () => Uses.Group(allocator));
    checks.Run("pixel buffer", () => Uses.Pixels(allocator));
    checks.Run("pixel buffer in parallel", () => Uses.PixelsInParallel(allocator));
    checks.Run("lease", () => Uses.Lease(allocator));
    checks.Run("hand-off of an array", () => Uses.HandedOff(allocator, 30));
    checks.Run("hand-off of blocks", () => Uses.HandedOff(allocator, 1500));
    checks.Run("memory pool", () =>
    {
        using MemoryPool<Rgba64> pool = allocator.AsMemoryPool<Rgba64>();
        using IMemoryOwner<Rgba64> owner = pool.Rent(100);
        return owner.Memory.Length == 100;
    });
    checks.Run("use after dispose throws", () => Uses.AfterDispose(allocator));
    checks.Run("nothing is out", () => allocator.GetStatistics().OutstandingAllocations == 0);
    checks.Run("metrics", () => Uses.Metrics(allocator));
    checks.Run("trimming returns all", () =>
    {
        allocator.Prewarm(8 << 20);
        allocator.ReleaseRetainedResources();
        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        return statistics is { RetainedBytes: 0, CommittedBytes: 0, TrimmedBytes: > 0 };
    });
}

checks.Run("guarded buffer and its record", Uses.Guarded);
checks.Run("default allocator", () =>
{
    using IMemoryOwner<float> owner = MemoryAllocator.Default.Allocate<float>(2_000_000, AllocationOptions.Clean);
    return owner.Memory.Span.IndexOfAnyExcept(0f) < 0;
});

Contract.Run(checks);
return checks.Report();

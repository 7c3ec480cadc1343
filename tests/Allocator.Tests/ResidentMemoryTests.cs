namespace Allocator.Tests;

/// <summary>What is given back must leave the process, as the kernel counts it.</summary>
public class ResidentMemoryTests
{
    private const int Block = 4 << 20;

    // A pool over malloc shrinks after the first burst and then never again: its freed chunks lie below live ones.
    [SkippableFact]
    public void ReleaseRetainedResources_AfterThreeBursts_LeavesLittleMoreThanLiveMemory()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 512 });
            long baseline = ResidentSet.Bytes;
            List<IMemoryOwner<byte>> live = [];
            for (int wave = 0; wave < 3; wave++)
            {
                live.ForEach(static owner => owner.Dispose());
                List<IMemoryOwner<byte>> burst = [.. Enumerable.Range(0, 100).Select(_ => allocator.Allocate<byte>(Block))];
                burst.ForEach(static owner => owner.Memory.Span.Fill(1));
                Assert.InRange(ResidentSet.Bytes - baseline, 100L * Block, 110L * Block);
                live = [.. burst.Where(static (_, i) => i % 10 == 3)];
                foreach (IMemoryOwner<byte> owner in burst.Except(live))
                {
                    owner.Dispose();
                }
            }

            allocator.ReleaseRetainedResources();
            Assert.InRange(ResidentSet.Bytes - baseline, 0, 10L * Block + (8 << 20));
            Assert.Equal(10L * Block, allocator.GetStatistics().CommittedBytes);
            Assert.All(live, static owner => Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)1)));
        }).Dispose();
    }

    [SkippableFact]
    public void Dispose_OfOversizeMemory_LeavesTheProcessAtOnce()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
            long baseline = ResidentSet.Bytes;
            using (MemoryGroup<byte> group = allocator.AllocateGroup<byte>(200 << 20))
            {
                group.Fill(1);
                Assert.InRange(ResidentSet.Bytes - baseline, 200L << 20, 216L << 20);
            }

            Assert.InRange(ResidentSet.Bytes - baseline, long.MinValue, 8 << 20);
        }).Dispose();
    }
}

using System.Globalization;
using Allocator.Allocators;
using Allocator.Tests.Limits;
using Allocator.Trimming;
using Measuring.Cgroups;

namespace Allocator.Tests.Trimming;

/// <summary>A limit of the kernel, not of a fake file.</summary>
public class ContainerLimitTests
{
    private const int Block = 4 << 20;
    private const long Limit = 512 << 20;

    [SkippableFact]
    public void Tick_LimitLoweredWhileTheProcessRuns_ReleasesAllIdleMemory()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        RemoteExecutor.Invoke(static folder =>
        {
            TestCgroup.Enter(folder);
            FakeClock clock = new();
            using MemoryAllocator allocator =
                new PooledMemoryAllocator(new AllocatorSettings(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 256 })
                {
                    Clock = clock,
                    Scheduler = new TrimTimer(clock, static () => { }, watchesCollections: false),
                });
            using IMemoryOwner<byte> live = allocator.Allocate<byte>(Block);
            live.Memory.Span.Fill(1);
            using (MemoryGroup<byte> idle = allocator.AllocateGroup<byte>(25 * Block))
            {
                idle.Fill(2);
            }

            MemoryLoad roomy = allocator.GetMemoryLoad();
            Assert.Equal(
                (MemoryLoadSource.ControlGroup, folder, Limit, false),
                (roomy.Source, roomy.Origin, roomy.TotalBytes, roomy.IsHigh));
            Assert.InRange(roomy.UsedBytes, 26 * Block, 256L << 20);
            clock.Advance(TimeSpan.FromMinutes(1));
            Assert.Equal(25 * Block, allocator.GetStatistics().RetainedBytes);

            // Room for what the test itself still needs, and 92 % used.
            long used = allocator.GetMemoryLoad().UsedBytes;
            Lower(folder, used / 100 * 108);
            Assert.True(allocator.GetMemoryLoad().IsHigh);
            clock.Advance(TimeSpan.FromMinutes(1));

            // Half of it would have gone anyway.
            Assert.Equal((0, Block), (allocator.GetStatistics().RetainedBytes, allocator.GetStatistics().CommittedBytes));
            MemoryLoad relieved = allocator.GetMemoryLoad();

            // Less what a minute of ticks, one a second, leaves to the collector.
            Assert.InRange(used - relieved.UsedBytes, 22L * Block, 26L * Block);
            Assert.Equal((CgroupMemory.OfThisProcess()!.LimitBytes!.Value, false), (relieved.TotalBytes, relieved.IsHigh));
            Assert.Equal(-1, live.Memory.Span.IndexOfAnyExcept((byte)1));
        }, group.Folder).Dispose();
    }

    private static void Lower(string folder, long limit) =>
        File.WriteAllText(
            new[] { CgroupFiles.Version1, CgroupFiles.Version2 }.Select(files => Path.Combine(folder, files.Limit)).Single(File.Exists),
            limit.ToString(CultureInfo.InvariantCulture));
}

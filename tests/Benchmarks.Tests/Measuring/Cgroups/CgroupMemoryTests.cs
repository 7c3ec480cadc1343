namespace Measuring.Tests.Cgroups;

public sealed class CgroupMemoryTests
{
    [Fact]
    public void UnreclaimableBytes_Version1_LeavesCachedFilesOutAndSharedMemoryIn()
    {
        using TemporaryFolder folder = new();
        File.WriteAllText(folder.At("memory.usage_in_bytes"), "1000\n");
        File.WriteAllText(folder.At("memory.limit_in_bytes"), "9223372036854771712\n");
        File.WriteAllText(folder.At("memory.stat"), "cache 1\nrss 2\ntotal_cache 600\ntotal_rss 350\ntotal_shmem 100\n");
        CgroupMemory memory = new(folder.Path, CgroupFiles.Version1);

        Assert.Equal((1000, 500, null), (memory.UsedBytes, memory.UnreclaimableBytes, memory.LimitBytes));
    }

    [Fact]
    public void UnreclaimableBytes_Version2_LeavesCachedFilesOutAndSharedMemoryIn()
    {
        using TemporaryFolder folder = new();
        File.WriteAllText(folder.At("memory.current"), "1000\n");
        File.WriteAllText(folder.At("memory.max"), "2000\n");
        File.WriteAllText(folder.At("memory.stat"), "anon 350\nfile 600\nshmem 100\n");
        CgroupMemory memory = new(folder.Path, CgroupFiles.Version2);

        Assert.Equal((1000, 500, 2000L), (memory.UsedBytes, memory.UnreclaimableBytes, memory.LimitBytes));
        File.WriteAllText(folder.At("memory.max"), "max\n");
        Assert.Null(memory.LimitBytes);
    }

    [Fact]
    public void Readings_OfAGroupThatIsGone_AreZero()
    {
        using TemporaryFolder folder = new();
        CgroupMemory memory = new(Path.Combine(folder.Path, "gone"), CgroupFiles.Version2);

        Assert.Equal((0, 0, null, 0), (memory.UsedBytes, memory.UnreclaimableBytes, memory.LimitBytes, memory.ReadKinds().Count));
    }

    [SkippableFact]
    public void TrySetLimit_OfARealGroup_LowersAndRaisesIt()
    {
        using MemoryCgroup group = MemoryCgroupTests.CreateOrSkip(64 << 20);

        Assert.True(group.TrySetLimit(40 << 20));
        Assert.Equal(40 << 20, group.Memory.LimitBytes);
        Assert.True(group.TrySetLimit(80 << 20));
        Assert.Equal(80 << 20, group.Memory.LimitBytes);
    }

    [SkippableFact]
    public void Stop_WatchOfARealGroup_HasSeenWhatWasCharged()
    {
        using MemoryCgroup group = MemoryCgroupTests.CreateOrSkip(64 << 20);
        using Sampler<long> watch = new(TimeSpan.FromMilliseconds(10), _ => group.UsedBytes);
        ProcessStartInfo start = new("sleep") { ArgumentList = { "1000" } };
        group.Wrap(start);

        // Ended with the group: what it uses is charged until then.
        using Process child = Process.Start(start)!;
        Assert.True(SpinWait.SpinUntil(() => group.UsedBytes > 0, TimeSpan.FromMinutes(1)));
        IReadOnlyList<long> seen = watch.Stop();

        Assert.False(child.HasExited);
        Assert.InRange(seen.Max(), 1, 64 << 20);
        Assert.InRange(seen.Min(), 0, 64 << 20);
    }
}

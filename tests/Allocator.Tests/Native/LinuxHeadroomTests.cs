namespace Allocator.Tests.Native;

public class LinuxHeadroomTests
{
    private const string Version1 = "/sys/fs/cgroup/memory/app";
    private const string Version2 = "/sys/fs/cgroup/app";
    private const long PageBelowMaximum = 9223372036854771712;

    [Fact]
    public void Read_Version2_CountsFilePagesAsFreeButNotSharedMemory()
    {
        FakeFiles files = OfVersion2(
            limit: "1000", usage: "900", "anon 300\nfile 500\nshmem 60\ninactive_file 100\nslab_reclaimable 20\n");

        Assert.Equal(new Headroom(1000, FreeBytes: 560, CertainBytes: 560) { HardBytes = 1000 }, Read(files));
    }

    [Fact]
    public void Read_Version1_CountsFilePagesAsFreeButNotSharedMemory()
    {
        FakeFiles files = OfVersion1(
            limit: "1000", usage: "900", "cache 1\nshmem 1\ntotal_cache 500\ntotal_shmem 60\ntotal_inactive_file 100\n");

        Assert.Equal(new Headroom(1000, FreeBytes: 540, CertainBytes: 540) { HardBytes = 1000 }, Read(files));
    }

    // As where the process has as many files open as it may.
    [Theory]
    [InlineData("/proc/meminfo")]
    [InlineData("/proc/self/cgroup")]
    [InlineData("memory.max")]
    [InlineData("memory.stat")]
    public void Read_FileThatCannotBeOpenedNow_IsReadLater(string name)
    {
        FakeFiles files = OfVersion2(limit: "1000", usage: "900", "file 100\n");
        bool mayOpen = false;
        LinuxSystemMemory source = new(
            path =>
                mayOpen || !path.EndsWith(name, StringComparison.Ordinal)
                    ? files.TryOpen(path)
                    : throw new IOException("Too many open files"));

        Assert.Equal(Headroom.Unknown with { IsOld = true }, source.ReadHeadroom());
        _ = source.ReadLoad();
        mayOpen = true;

        Assert.Equal(Read(files), source.ReadHeadroom());
        Assert.Equal(1000, source.ReadLoad().TotalBytes);
    }

    [Fact]
    public void Read_NoLimit_GivesWhatTheMachineHasAvailable()
    {
        FakeFiles files = OfVersion2(limit: "max", usage: "900", "file 5\n");
        files["/proc/meminfo"] = "MemTotal:       4 kB\nMemAvailable:   3 kB\nSwapFree: 0 kB\n";

        Headroom left = Read(files);

        Assert.Equal((4096, 3072, false), (left.LimitBytes, left.FreeBytes, left.HasHardLimit));
    }

    [Fact]
    public void Read_LimitAboveTheMachine_IsNone()
    {
        FakeFiles files = OfVersion1(limit: PageBelowMaximum.ToString(), usage: "900", "total_cache 5\n");
        files["/proc/meminfo"] = "MemTotal:       4 kB\nMemAvailable:   3 kB\n";
        Assert.False(Read(files).HasHardLimit);
        files[Version1 + "/memory.limit_in_bytes"] = "5000";
        Assert.False(Read(files).HasHardLimit);
        files[Version1 + "/memory.limit_in_bytes"] = "4000";
        Assert.True(Read(files).HasHardLimit);
    }

    // lxcfs shows a container its own limit; the kernel does not know of that file.
    [Fact]
    public void Read_LessThanTheKernelReports_IsAHardLimit()
    {
        FakeFiles files = new() { ["/proc/meminfo"] = "MemTotal: 307200 kB\nMemAvailable: 204800 kB\nSwapFree: 0 kB\n" };
        LinuxSystemMemory source = new(files.TryOpen, static () => 8L << 30);
        Assert.Equal(new Headroom(300 << 20, 200 << 20, 200 << 20) { HardBytes = 300 << 20 }, source.ReadHeadroom());
        Assert.False(source.ReadLoad().IsHigh);
        files["/proc/meminfo"] = "MemTotal: 307200 kB\nMemAvailable: 2048 kB\n";
        Assert.True(source.ReadLoad().IsHigh);
    }

    // A balloon takes memory from a virtual machine: then the kernel reports less, too.
    [Fact]
    public void Read_TheMachineShrinks_IsNoLimit()
    {
        long machine = 8L << 30;
        FakeFiles files = new() { ["/proc/meminfo"] = "MemTotal: 8388608 kB\nMemAvailable: 204800 kB\nSwapFree: 0 kB\n" };
        LinuxSystemMemory source = new(files.TryOpen, () => machine);
        Assert.False(source.ReadHeadroom().LimitsResident);
        files["/proc/meminfo"] = "MemTotal: 4194304 kB\nMemAvailable: 204800 kB\nSwapFree: 0 kB\n";
        machine = 4L << 30;
        Assert.Equal((4L << 30, false), (source.ReadHeadroom().LimitBytes, source.ReadHeadroom().LimitsResident));
    }

    [Theory]
    [InlineData(300)]
    [InlineData(8192)]
    public void Read_GroupAndLxcfs_TheTighterLimitCounts(long limitInMegabytes)
    {
        FakeFiles files = OfVersion2(limit: (limitInMegabytes << 20).ToString(), usage: (100 << 20).ToString(), "file 0\n");
        files["/proc/meminfo"] = "MemTotal: 307200 kB\nMemAvailable: 204800 kB\nSwapFree: 0 kB\n";
        Headroom left = new LinuxSystemMemory(files.TryOpen, static () => 8L << 30).ReadHeadroom();
        Assert.Equal((300 << 20, 200 << 20, 200 << 20), (left.HardBytes, left.CertainBytes, left.FreeBytes));
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("MemTotal: 0 kB\nMemAvailable: 0 kB\n")]
    [InlineData("MemTotal: 1 kB\nMemAvailable: 1 kB\n")]
    [InlineData("MemTotal: 307200 kB\nMemAvailable: 307201 kB\n")]
    [InlineData("MemTotal: 9999999999999999999 kB\nMemAvailable: 1 kB\n")]
    [InlineData(FakeFiles.Unreadable)]
    public void Read_AbsurdMachine_IsIgnoredAndTheGroupsLimitCounts(string text)
    {
        FakeFiles files = new() { ["/proc/meminfo"] = text };
        Assert.Equal(Headroom.Unknown, new LinuxSystemMemory(files.TryOpen, static () => 8L << 30).ReadHeadroom());
        files = OfVersion2(limit: "1000", usage: "900", "file 0\n");
        files["/proc/meminfo"] = text;
        Assert.Equal(100, new LinuxSystemMemory(files.TryOpen, static () => 8L << 30).ReadHeadroom().CertainBytes);
    }

    [Fact]
    public void Read_LimitAsLargeAsTheMachine_Counts()
    {
        FakeFiles files = OfVersion2(limit: "4096", usage: "96", "file 0\n");
        files["/proc/meminfo"] = "MemTotal: 4 kB\nMemAvailable: 4 kB\n";
        Assert.Equal(4000, Read(files).CertainBytes);
    }

    [Fact]
    public void Read_StatisticsThatCannotBeRead_CountNothingAsReclaimable()
    {
        FakeFiles files = OfVersion2(limit: "1000", usage: "900", FakeFiles.Unreadable);
        Assert.Equal((100, 100), (Read(files).CertainBytes, Read(files).FreeBytes));
    }

    [Fact]
    public void Read_UsageThatCannotBeRead_LeavesTheMachine()
    {
        FakeFiles files = OfVersion2(limit: "1000", FakeFiles.Unreadable, "file 0\n");
        files[Version2 + "/memory.current"] = FakeFiles.Unreadable;
        files["/proc/meminfo"] = "MemTotal: 4 kB\nMemAvailable: 3 kB\n";
        Assert.Equal((4096, 3072, false), (Read(files).LimitBytes, Read(files).FreeBytes, Read(files).HasHardLimit));
    }

    [Fact]
    public void Read_GroupsAroundIt_TheTightestCounts()
    {
        FakeFiles files = OfVersion2(limit: "1000", usage: "100", "file 0\n");
        files["/proc/self/cgroup"] = "0::/pod/app\n";
        files["/sys/fs/cgroup/pod/app/memory.max"] = "1000";
        files["/sys/fs/cgroup/pod/app/memory.current"] = "100";
        files["/sys/fs/cgroup/pod/memory.max"] = "2000";
        files["/sys/fs/cgroup/pod/memory.current"] = "1900";

        Assert.Equal(new Headroom(2000, 100, 100) { HardBytes = 1000 }, Read(files));
    }

    [Fact]
    public void Read_HighOfVersion2_IsALimitForWhatIsFreeAndKillsNobody()
    {
        FakeFiles files = OfVersion2(limit: "max", usage: "100", "file 0\n");
        files[Version2 + "/memory.high"] = "500";
        Headroom left = Read(files);
        Assert.Equal((500, 400, false), (left.LimitBytes, left.FreeBytes, left.HasHardLimit));
    }

    [Theory]
    [InlineData("0", "0", 100)]
    [InlineData("max", "0", 1124)]
    [InlineData("600", "100", 600)]
    public void Read_SwapOfVersion2_CountsAsFarAsItIsAllowed(string limit, string usage, long expected)
    {
        FakeFiles files = OfVersion2("1000", "900", "file 0\n");
        files["/proc/meminfo"] = "MemTotal: 9 kB\nMemAvailable: 9 kB\nSwapFree: 1 kB\n";
        files[Version2 + "/memory.swap.max"] = limit;
        files[Version2 + "/memory.swap.current"] = usage;
        Assert.Equal(expected, Read(files).CertainBytes);
    }

    [Fact]
    public void Read_SwapOfVersion1_IsLimitedTogetherWithMemory()
    {
        FakeFiles files = OfVersion1("1000", "900", "total_cache 0\n");
        files["/proc/meminfo"] = "MemTotal: 9 kB\nMemAvailable: 9 kB\nSwapFree: 1 kB\n";
        files[Version1 + "/memory.memsw.limit_in_bytes"] = "1500";
        files[Version1 + "/memory.memsw.usage_in_bytes"] = "950";
        Assert.Equal(550, Read(files).CertainBytes);
        files[Version1 + "/memory.memsw.limit_in_bytes"] = PageBelowMaximum.ToString();
        Assert.Equal(1124, Read(files).CertainBytes);
    }

    [Fact]
    public void Read_LimitLoweredWhileRunning_IsSeen()
    {
        FakeFiles files = OfVersion2("1000", "500", "file 0\n");
        LinuxSystemMemory source = Open(files);
        Assert.Equal(500, source.ReadHeadroom().CertainBytes);
        files[Version2 + "/memory.max"] = "400";
        Assert.Equal((-100, -100), (source.ReadHeadroom().CertainBytes, source.ReadHeadroom().FreeBytes));
    }

    [Fact]
    public void Read_MovedToAnotherGroup_ReadsThat()
    {
        FakeFiles files = OfVersion2("1000", "500", "file 0\n");
        LinuxSystemMemory source = Open(files);
        source.ReadHeadroom();
        files["/proc/self/cgroup"] = "0::/other\n";
        files["/sys/fs/cgroup/other/memory.max"] = "3000";
        files["/sys/fs/cgroup/other/memory.current"] = "1000";
        Assert.Equal(new Headroom(3000, 2000, 2000) { HardBytes = 3000 }, source.ReadHeadroom());
    }

    [Fact]
    public void Read_GroupRemoved_ReadsTheOneThatTheProcessIsInNow()
    {
        FakeFiles files = OfVersion2("1000", "500", "file 0\n");
        files["/sys/fs/cgroup/memory.max"] = "4000";
        files["/sys/fs/cgroup/memory.current"] = "1000";
        LinuxSystemMemory source = Open(files);
        Assert.Equal(500, source.ReadHeadroom().CertainBytes);
        files.Remove(Version2 + "/memory.current");
        files.Remove(Version2 + "/memory.max");
        Assert.Equal(3000, source.ReadHeadroom().CertainBytes);
    }

    [Fact]
    public void Read_GroupRemovedAndNoFileCanBeOpened_KeepsTheLastFiguresAndReadsAgain()
    {
        FakeFiles files = OfVersion2("1000", "500", "file 0\n");
        bool mayOpen = true;
        LinuxSystemMemory source = new(path => mayOpen ? files.TryOpen(path) : throw new IOException("Too many open files"));
        source.ReadHeadroom();
        files.Remove(Version2 + "/memory.current");
        mayOpen = false;
        Assert.Equal((500, 500), (source.ReadHeadroom().CertainBytes, source.ReadLoad().UsedBytes));
        files[Version2 + "/memory.current"] = "300";
        mayOpen = true;
        Assert.Equal(700, source.ReadHeadroom().CertainBytes);
    }

    [Fact]
    public void Read_LoadAndHeadroom_AreOfTheSameFigures()
    {
        FakeFiles files = OfVersion2("1000", "900", "file 500\nshmem 60\ninactive_file 100\n");
        LinuxSystemMemory source = Open(files);
        MemoryLoad load = source.ReadLoad();
        int reads = files.Reads;
        Headroom left = source.ReadHeadroom();
        Assert.Equal((1000, 800, 540), (load.TotalBytes, load.UsedBytes, left.FreeBytes));
        Assert.InRange(files.Reads - reads, 1, reads);
    }

    // 300 MB of photographs that were read four times. The orchestrator shows them as used, the kernel reclaims them at once.
    [Theory]
    [InlineData("file 700\nshmem 0\ninactive_file 10\n", false, 750)]
    [InlineData("file 700\nshmem 690\ninactive_file 10\n", true, 60)]
    public void Read_ActiveFilePagesFillTheContainer_AreNoLoad(string statistics, bool isHigh, long free)
    {
        LinuxSystemMemory source = Open(OfVersion2("1000", "950", statistics));
        Assert.Equal((isHigh, 940), (source.ReadLoad().IsHigh, source.ReadLoad().UsedBytes));
        Assert.Equal(free, source.ReadHeadroom().FreeBytes);
    }

    [Fact]
    public void Read_NothingToRead_IsUnknown()
    {
        Assert.Equal(Headroom.Unknown, Read([]));
    }

    [SkippableFact]
    public void Read_AgainInTheSameGroups_TakesNoManagedMemory()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Linux's.");
        LinuxSystemMemory source = new(SystemFile.TryOpen);
        for (int i = 0; i < 3; i++)
        {
            source.ReadHeadroom();
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
        {
            source.ReadHeadroom();
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.InRange(source.ReadHeadroom().FreeBytes, 1, long.MaxValue - 1);
    }

    private static Headroom Read(FakeFiles files) => Open(files).ReadHeadroom();

    private static LinuxSystemMemory Open(FakeFiles files) => new(files.TryOpen);

    private static FakeFiles OfVersion2(string limit, string usage, string statistics) => new()
    {
        ["/proc/self/cgroup"] = "0::/app\n",
        [Version2 + "/memory.max"] = limit + "\n",
        [Version2 + "/memory.current"] = usage + "\n",
        [Version2 + "/memory.stat"] = statistics,
    };

    private static FakeFiles OfVersion1(string limit, string usage, string statistics) => new()
    {
        ["/proc/self/cgroup"] = "4:memory:/app\n",
        [Version1 + "/memory.limit_in_bytes"] = limit + "\n",
        [Version1 + "/memory.usage_in_bytes"] = usage + "\n",
        [Version1 + "/memory.stat"] = statistics,
    };
}

namespace Allocator.Tests.Native;

public class ControlGroupTests
{
    private const string Group = "/sys/fs/cgroup/app";

    [Fact]
    public void TryRead_Version2_GivesUsageWithoutIdleFilePages()
    {
        MemoryLoad load = Read(Version2("500\n", "400\n", ("memory.stat", "anon 200\ninactive_file 100\nactive_file 50\n")))!.Value;

        Assert.Equal(new MemoryLoad { Source = MemoryLoadSource.ControlGroup, Origin = Group, UsedBytes = 300, TotalBytes = 500 }, load);
    }

    [Fact]
    public void TryRead_Version2LimitOnAnAncestor_IsTheOneThatBinds()
    {
        MemoryLoad? load = Read(new FakeFiles
        {
            ["/proc/self/cgroup"] = "0::/pod/app\n",
            ["/sys/fs/cgroup/pod/app/memory.max"] = "max\n",
            ["/sys/fs/cgroup/pod/app/memory.current"] = "10\n",
            ["/sys/fs/cgroup/pod/memory.max"] = "1000\n",
            ["/sys/fs/cgroup/pod/memory.current"] = "950\n",
        });

        Assert.Equal(("/sys/fs/cgroup/pod", 950, 1000, true), Figures(load));
    }

    [Theory]
    [InlineData("9800", true)]
    [InlineData("5000", false)]
    public void TryRead_FullGroupAroundAGroupWithLessRoom_IsHigh(string usedAround, bool expected)
    {
        // 100 bytes are left inside; around it 200, of a hundred times as many.
        MemoryLoad? load = Read(new FakeFiles
        {
            ["/proc/self/cgroup"] = "0::/pod/app\n",
            ["/sys/fs/cgroup/pod/app/memory.max"] = "200",
            ["/sys/fs/cgroup/pod/app/memory.current"] = "100",
            ["/sys/fs/cgroup/pod/memory.max"] = "10000",
            ["/sys/fs/cgroup/pod/memory.current"] = usedAround,
        });

        Assert.Equal(expected, load!.Value.IsHigh);
        Assert.Equal(expected ? 10000 : 200, load.Value.TotalBytes);
    }

    [Fact]
    public void TryRead_PathOfTheHost_FallsBackToTheRootOfTheMount()
    {
        MemoryLoad? load = Read(new FakeFiles
        {
            ["/proc/self/cgroup"] = "0::/kubepods/pod1/abc\n",
            ["/sys/fs/cgroup/memory.max"] = "500",
            ["/sys/fs/cgroup/memory.current"] = "40",
        });

        Assert.Equal(("/sys/fs/cgroup", 40, 500, false), Figures(load));
    }

    [Fact]
    public void TryRead_Version1_IsReadFromItsOwnHierarchy()
    {
        MemoryLoad? load = Read(new FakeFiles
        {
            ["/proc/self/cgroup"] = "9:name=systemd:/\n4:memory:/docker/abc\n0::/\n",
            ["/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes"] = "1000",
            ["/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes"] = "800",
            ["/sys/fs/cgroup/memory/docker/abc/memory.stat"] = "cache 1\ntotal_inactive_file 100",
            ["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712",
            ["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "900",
        });

        Assert.Equal(("/sys/fs/cgroup/memory/docker/abc", 700, 1000, false), Figures(load));
    }

    [Theory]
    [InlineData("max", "500", 500L)]
    [InlineData("1000", "500", 500L)]
    [InlineData("1000", "max", 1000L)]
    [InlineData("500", "1000", 500L)]
    [InlineData("500", "nonsense", 500L)]
    public void TryRead_MemoryHigh_IsALimitWhereItIsTheLower(string max, string high, long expected) =>
        Assert.Equal((Group, 450, expected, expected == 500), Figures(Read(Version2(max, "450", ("memory.high", high)))));

    [Theory]
    [InlineData("max")]
    [InlineData("9223372036854771712")]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("nonsense")]
    [InlineData("")]
    public void TryRead_NoUsableLimit_GivesNothing(string limit) => Assert.Null(Read(Version2(limit, "40")));

    [Theory]
    [InlineData("-40")]
    [InlineData("9223372036854771712")]
    [InlineData("99999999999999999999")]
    [InlineData("nonsense")]
    public void TryRead_AbsurdUsage_GivesNothing(string usage) => Assert.Null(Read(Version2("500", usage)));

    [Theory]
    [InlineData("nonsense", 400L)]
    [InlineData("inactive_file -100", 400L)]
    [InlineData("inactive_file 401", 0L)]
    public void TryRead_AbsurdCache_IsIgnored(string stat, long expected) =>
        Assert.Equal((Group, expected, 500, false), Figures(Read(Version2("500", "400", ("memory.stat", stat)))));

    [Theory]
    [InlineData("some avg10=9.99 avg60=0.00 avg300=0.00 total=1\nfull avg10=9.99", "80", false)]
    [InlineData("some avg10=10.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00", "80", true)]
    [InlineData("some avg10=100.00 avg60=100.00 avg300=100.00 total=1\nfull avg10=100.00", "74", false)]
    [InlineData("some avg10=900.00 avg60=0.00 avg300=0.00 total=1", "80", false)]
    [InlineData("nonsense", "80", false)]
    [InlineData("some avg10=0.00", "90", true)]
    public void TryRead_Stalls_CountFromThreeQuartersOn(string pressure, string used, bool expected) =>
        Assert.Equal(expected, Read(Version2("100", used, ("memory.pressure", pressure)))!.Value.IsHigh);

    [Fact]
    public void TryRead_KernelThatCountsNoStalls_GivesTheRest() =>
        Assert.Equal((Group, 300, 500, false), Figures(Read(Version2("500", "300", ("memory.pressure", FakeFiles.Unreadable)))));

    [Fact]
    public void TryRead_NoFiles_GivesNothing() => Assert.Null(Read([]));

    private static MemoryLoad? Read(FakeFiles files) =>
        new LinuxSystemMemory(files.TryOpen).ReadLoad() is { Source: MemoryLoadSource.ControlGroup } load ? load : null;

    private static (string?, long, long, bool) Figures(MemoryLoad? load) =>
        load is MemoryLoad known ? (known.Origin, known.UsedBytes, known.TotalBytes, known.IsHigh) : default;

    private static FakeFiles Version2(string max, string current, params (string Name, string Text)[] others)
    {
        FakeFiles files =
            new() { ["/proc/self/cgroup"] = "0::/app\n", [Group + "/memory.max"] = max, [Group + "/memory.current"] = current };
        others.ToList().ForEach(other => files[$"{Group}/{other.Name}"] = other.Text);
        return files;
    }
}

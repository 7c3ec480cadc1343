namespace Allocator.Tests.Native;

public class LinuxSystemMemoryTests
{
    private const string BusyMachine = "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:     20 kB\n";
    private const string FullMachine = "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:    200 kB\n";
    private const string QuietMachine = "MemTotal:       1000 kB\nMemFree:         500 kB\nMemAvailable:    600 kB\n";
    private const string Stalled =
        "some avg10=80.00 avg60=80.00 avg300=80.00 total=1\nfull avg10=80.00 avg60=80.00 avg300=80.00 total=1\n";
    private const string NotStalled = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n";

    [Theory]
    [InlineData(BusyMachine, true)]
    [InlineData(QuietMachine, false)]
    [InlineData("MemTotal:       1000 kB\nMemAvailable:    101 kB\n", false)]
    [InlineData("MemTotal:       1000 kB\nMemAvailable:    100 kB\n", true)]
    public void Read_NoContainer_JudgesTheMachine(string meminfo, bool expected)
    {
        MemoryLoad load = Read(new FakeFiles { ["/proc/meminfo"] = meminfo });

        Assert.Equal(
            (MemoryLoadSource.Machine, "/proc/meminfo", 1000 * 1024, expected), (load.Source, load.Origin, load.TotalBytes, load.IsHigh));
    }

    [Theory]
    [InlineData(FullMachine, Stalled, true)]
    [InlineData(FullMachine, NotStalled, false)]
    [InlineData(QuietMachine, Stalled, false)]
    public void Read_NoContainer_StallsOfTheMachineCountWhereItIsRatherFull(string meminfo, string pressure, bool expected) =>
        Assert.Equal(expected, Read(new FakeFiles { ["/proc/meminfo"] = meminfo, ["/proc/pressure/memory"] = pressure }).IsHigh);

    [Theory]
    [InlineData(Stalled, NotStalled, false)]
    [InlineData(NotStalled, Stalled, true)]
    public void Read_GroupWithoutALimit_ItsOwnStallsCountAndNotThoseOfOthers(string machine, string group, bool expected) =>
        Assert.Equal(expected, Read(new FakeFiles
        {
            ["/proc/meminfo"] = FullMachine,
            ["/proc/pressure/memory"] = machine,
            ["/proc/self/cgroup"] = "0::/system.slice/app.service\n",
            ["/sys/fs/cgroup/system.slice/app.service/memory.max"] = "max",
            ["/sys/fs/cgroup/system.slice/app.service/memory.pressure"] = group,
        }).IsHigh);

    [Theory]
    [InlineData(BusyMachine, Stalled, "100000", false)]
    [InlineData(BusyMachine, Stalled, "380000", false)]
    [InlineData(BusyMachine, Stalled, "390000", true)]
    [InlineData(QuietMachine, NotStalled, "390000", false)]
    [InlineData(QuietMachine, NotStalled, "480000", true)]
    public void Read_ContainerWithALimit_JudgesTheContainerWhateverTheNeighboursDo(
        string meminfo, string stalls, string used, bool expected)
    {
        // A neighbour that exhausts the machine stalls this container's threads too; with a quarter of its limit to spare it has no part
        // in that.
        MemoryLoad load = Read(new FakeFiles
        {
            ["/proc/meminfo"] = meminfo,
            ["/proc/pressure/memory"] = stalls,
            ["/proc/self/cgroup"] = "0::/\n",
            ["/sys/fs/cgroup/memory.max"] = "512000",
            ["/sys/fs/cgroup/memory.current"] = used,
            ["/sys/fs/cgroup/memory.pressure"] = stalls,
        });

        Assert.Equal((MemoryLoadSource.ControlGroup, 512000, expected), (load.Source, load.TotalBytes, load.IsHigh));
    }

    [Fact]
    public void Read_ContainerOfVersion1_UsesNoStalls()
    {
        MemoryLoad load = Read(new FakeFiles
        {
            ["/proc/meminfo"] = BusyMachine,
            ["/proc/pressure/memory"] = Stalled,
            ["/proc/self/cgroup"] = "4:memory:/app\n0::/\n",
            ["/sys/fs/cgroup/memory/app/memory.limit_in_bytes"] = "1000",
            ["/sys/fs/cgroup/memory/app/memory.usage_in_bytes"] = "800",
        });

        Assert.Equal((null, false), (load.StalledPercent, load.IsHigh));
    }

    [Fact]
    public void Read_LimitAboveTheMachine_JudgesTheMachine()
    {
        MemoryLoad load = Read(new FakeFiles
        {
            ["/proc/meminfo"] = BusyMachine,
            ["/proc/self/cgroup"] = "0::/\n",
            ["/sys/fs/cgroup/memory.max"] = "999999999",
            ["/sys/fs/cgroup/memory.current"] = "1",
        });

        Assert.Equal((MemoryLoadSource.Machine, true), (load.Source, load.IsHigh));
    }

    [Theory]
    [InlineData("MemTotal: 1000 kB\nMemAvailable: 1001 kB\n")]
    [InlineData("MemTotal: 1000 kB\nMemAvailable: -1 kB\n")]
    [InlineData("MemTotal: 0 kB\nMemAvailable: 0 kB\n")]
    [InlineData("MemTotal: 99999999999999999999 kB\nMemAvailable: 1 kB\n")]
    [InlineData("nonsense")]
    public void Read_AbsurdMachine_AsksTheCollector(string meminfo) =>
        Assert.Equal(Read([]).Source, Read(new FakeFiles { ["/proc/meminfo"] = meminfo }).Source);

    [Fact]
    public void Read_LimitThatChanges_CountsAtTheNextReading()
    {
        FakeFiles files = new()
        {
            ["/proc/self/cgroup"] = "0::/\n",
            ["/sys/fs/cgroup/memory.max"] = "1000",
            ["/sys/fs/cgroup/memory.current"] = "500",
        };
        LinuxSystemMemory source = new(files.TryOpen);
        Assert.Equal((1000, false), (source.ReadLoad().TotalBytes, source.ReadLoad().IsHigh));

        files["/sys/fs/cgroup/memory.max"] = "510";
        Assert.Equal((510, true), (source.ReadLoad().TotalBytes, source.ReadLoad().IsHigh));

        files.Remove("/sys/fs/cgroup/memory.max");
        Assert.NotEqual(MemoryLoadSource.ControlGroup, source.ReadLoad().Source);
    }

    [Fact]
    public void Read_ThisMachine_GivesFigures()
    {
        MemoryLoad load = SystemMemory.Shared.ReadLoad();

        Assert.NotEqual(MemoryLoadSource.None, load.Source);
        Assert.InRange(load.UsedBytes, 1, long.MaxValue);
        Assert.InRange(load.TotalBytes, 1L << 24, 1L << 48);
    }

    [Fact]
    public void AvailableBytes_OfThisMachine_IsAFigure() => Assert.InRange(SystemMemory.Shared.AvailableBytes ?? 0, 1L << 24, 1L << 48);

    [Fact]
    public void AvailableBytes_AskedAgain_IsThatOfTheLastRead()
    {
        FakeFiles files = new() { ["/proc/meminfo"] = QuietMachine };
        LinuxSystemMemory source = new(files.TryOpen);
        Assert.Equal(1000 * 1024, source.AvailableBytes);
        int firstReads = files.Reads;
        files["/proc/meminfo"] = QuietMachine.Replace("1000 kB", "900 kB", StringComparison.Ordinal);
        Assert.Equal((1000 * 1024, firstReads), (source.AvailableBytes, files.Reads));
        source.ReadLoad();
        Assert.Equal(900 * 1024, source.AvailableBytes);
    }

    private static MemoryLoad Read(FakeFiles files) => new LinuxSystemMemory(files.TryOpen).ReadLoad();
}

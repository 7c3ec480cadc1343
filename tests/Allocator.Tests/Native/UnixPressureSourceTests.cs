using System;
using Allocator.Native;
using Xunit;

namespace Allocator.Tests.Native;

public class UnixPressureSourceTests
{
    private const string BusyMachine = "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:     20 kB\n";
    private const string QuietMachine = "MemTotal:       1000 kB\nMemFree:         500 kB\nMemAvailable:    600 kB\n";

    [Theory]
    [InlineData(BusyMachine, MemoryPressure.High)]
    [InlineData(QuietMachine, MemoryPressure.Low)]
    [InlineData("MemTotal:       1000 kB\nMemAvailable:    101 kB\n", MemoryPressure.Low)]
    [InlineData("MemTotal:       1000 kB\nMemAvailable:    100 kB\n", MemoryPressure.High)]
    public void Read_NoContainer_JudgesTheMachine(string meminfo, object expected) =>
        Assert.Equal(expected, new UnixPressureSource(CgroupMemoryTests.Files(("/proc/meminfo", meminfo))).Read());

    [Theory]
    [InlineData(BusyMachine, "100000", MemoryPressure.Low)]
    [InlineData(QuietMachine, "480000", MemoryPressure.High)]
    public void Read_ContainerWithALimit_JudgesTheContainerWhateverTheNeighboursDo(string meminfo, string used, object expected) =>
        Assert.Equal(expected, new UnixPressureSource(CgroupMemoryTests.Files(
            ("/proc/meminfo", meminfo),
            ("/proc/self/cgroup", "0::/\n"),
            ("/sys/fs/cgroup/memory.max", "512000"),
            ("/sys/fs/cgroup/memory.current", used))).Read());

    [Fact]
    public void Read_LimitAboveTheMachine_JudgesTheMachine() =>
        Assert.Equal(MemoryPressure.High, new UnixPressureSource(CgroupMemoryTests.Files(
            ("/proc/meminfo", BusyMachine),
            ("/proc/self/cgroup", "0::/\n"),
            ("/sys/fs/cgroup/memory.max", "999999999"),
            ("/sys/fs/cgroup/memory.current", "1"))).Read());

    [Fact]
    public void Read_ThisMachine_GivesAnAnswer() => Assert.True(Enum.IsDefined(PressureSource.Create().Read()));

    [Fact]
    public void TryRead_AvailableMemory_IsAFigureOfThisMachine() => Assert.InRange(AvailableMemory.TryRead() ?? 0, 1L << 24, 1L << 48);
}

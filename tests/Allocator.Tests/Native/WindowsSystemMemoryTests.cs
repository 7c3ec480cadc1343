namespace Allocator.Tests.Native;

/// <summary>What the Windows source makes of what it reads; the reading itself is tried by <c>tests/PlatformSmoke</c>.</summary>
public class WindowsSystemMemoryTests
{
    private static readonly MemoryLoad s_quietMachine = Load(MemoryLoadSource.Machine, 100, 1000);
    private static readonly MemoryLoad s_busyMachine = Load(MemoryLoadSource.Machine, 950, 1000);

    [Theory]
    [InlineData(false, false, false)]
    [InlineData(false, true, true)]
    [InlineData(false, null, false)]
    [InlineData(true, false, true)]
    public void Read_NoJob_UsesTheMachinesLoadAndWindowsNotification(bool isBusy, bool? isLow, bool expected)
    {
        MemoryLoad load = new WindowsSystemMemory(static () => null, () => isBusy
            ? s_busyMachine
            : s_quietMachine, () => isLow).ReadLoad();

        Assert.Equal((MemoryLoadSource.Machine, expected), (load.Source, load.IsHigh));
    }

    [Theory]
    [InlineData(100, false)]
    [InlineData(450, true)]
    public void Read_JobWithALimit_IgnoresTheMachine(long used, bool expected)
    {
        MemoryLoad load = new WindowsSystemMemory(
            () => Load(MemoryLoadSource.JobObject, used, 500), static () => s_busyMachine, static () => true).ReadLoad();

        Assert.Equal((MemoryLoadSource.JobObject, expected), (load.Source, load.IsHigh));
    }

    [Fact]
    public void Read_LimitAboveTheMachine_JudgesTheMachine() =>
        Assert.Equal(s_busyMachine, new WindowsSystemMemory(static () => Load(MemoryLoadSource.JobObject, 1, 5000), static () =>
            s_busyMachine, static () => false).ReadLoad());

    private static MemoryLoad Load(MemoryLoadSource source, long used, long total) =>
        SystemMemory.Judge(new MemoryLoad { Source = source, UsedBytes = used, TotalBytes = total });
}

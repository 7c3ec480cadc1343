namespace Allocator.Tests.Native;

public class WindowsJobTests
{
    private const uint Process = WindowsJob.Limits.OfProcess;
    private const uint Job = WindowsJob.Limits.OfJob;

    // Windows refuses any other length than that of its own structure.
    [SkippableFact]
    public void Limits_Size_IsThatOfTheStructureOfWindows()
    {
        Skip.IfNot(Environment.Is64BitProcess, "The size is that of 64 bits.");
        Assert.Equal(144, Unsafe.SizeOf<WindowsJob.Limits>());
    }

    [Theory]
    [InlineData(0u, 100L, 1000L, null, null)]
    [InlineData(0x2000u, 100L, 1000L, null, null)]
    [InlineData(Process, 100L, 1000L, "ProcessMemoryLimit", false)]
    [InlineData(Process, 450L, 1000L, "ProcessMemoryLimit", true)]
    [InlineData(Job, 100L, 1000L, "JobMemoryLimit", false)]
    [InlineData(Job, 100L, 1900L, "JobMemoryLimit", true)]
    [InlineData(Process | Job, 100L, 1000L, "ProcessMemoryLimit", false)]
    [InlineData(Process | Job, 100L, 1700L, "JobMemoryLimit", false)]
    [InlineData(Process | Job, 100L, 1900L, "JobMemoryLimit", true)]
    [InlineData(Process | Job, 490L, 1900L, "ProcessMemoryLimit", true)]
    [InlineData(Job, 1900L, null, "JobMemoryLimit", true)]
    [InlineData(Job, null, null, null, null)]
    public void TryJudge_Limits_GivesTheOneThatBinds(uint flags, long? byProcess, long? byJob, string? origin, bool? isHigh)
    {
        WindowsJob.Limits limits = new() { Flags = flags, ProcessMemoryLimit = 500, JobMemoryLimit = 2000 };

        MemoryLoad? load = WindowsJob.TryJudge(limits, byProcess, byJob);

        Assert.Equal((origin, isHigh), (load?.Origin, load?.IsHigh));
    }

    [Fact]
    public void TryJudge_LimitOfZero_IsIgnored() =>
        Assert.Null(WindowsJob.TryJudge(new WindowsJob.Limits { Flags = Process | Job }, 1, 1));
}

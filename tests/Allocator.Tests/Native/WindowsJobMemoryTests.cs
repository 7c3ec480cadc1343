using System;
using System.Runtime.CompilerServices;
using Allocator.Diagnostics;
using Allocator.Native;
using Xunit;

namespace Allocator.Tests.Native;

public class WindowsJobMemoryTests
{
    private const uint Process = JobMemoryLimits.LimitsProcess;
    private const uint Job = JobMemoryLimits.LimitsJob;

    // Windows refuses any other length than that of its own structure.
    [SkippableFact]
    public void JobMemoryLimits_Size_IsThatOfTheStructureOfWindows()
    {
        Skip.IfNot(Environment.Is64BitProcess, "The size is that of 64 bits.");
        Assert.Equal(144, Unsafe.SizeOf<JobMemoryLimits>());
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
        JobMemoryLimits limits = new() { LimitFlags = flags, ProcessMemoryLimit = 500, JobMemoryLimit = 2000 };

        MemoryLoad? load = WindowsJobMemory.TryJudge(limits, byProcess, byJob);

        Assert.Equal((origin, isHigh), (load?.Origin, load?.IsHigh));
    }

    [Fact]
    public void TryJudge_LimitOfZero_IsAsIfItWereNotThere() => Assert.Null(WindowsJobMemory.TryJudge(new JobMemoryLimits { LimitFlags = Process | Job }, 1, 1));
}

namespace LoadResizeSave.Tests.Containers;

/// <summary>Runs in containers that no test has to wait for.</summary>
internal static class ContainedRuns
{
    public const long Mebibyte = 1 << 20;

    public static JobMessage Job(JobEnd end, JobKind kind = JobKind.Whole, double seconds = 0.5)
        => new("a.jpg", kind, end, seconds, 0.1, end == JobEnd.Done ? "00" : null, "reason");

    public static ContainedRun Finished(params IEnumerable<JobMessage> jobs) => new()
    {
        Ending = RunEnding.Finished,
        Jobs = [.. jobs],
        Run = new RunMessage
        {
            Seconds = 2,
            Statistics = new MemoryAllocatorStatistics(),
        },
        Samples = [.. Enumerable.Range(-5, 205).Select(i => new CgroupSample(i * 0.01, i * Mebibyte))],
        PeakBytes = 200 * Mebibyte,
    };

    public static ContainedRun Finished(params IEnumerable<JobEnd> ends) => Finished(ends.Select(end => Job(end)));

    public static ContainedRun Done(int jobs) => Finished(Enumerable.Repeat(JobEnd.Done, jobs));

    public static ContainedRun Killed(params IEnumerable<JobMessage> jobs) => Finished(jobs) with
    {
        Ending = RunEnding.Killed,
        ExitCode = MemoryCgroup.KilledExitCode,
        Kills = 1,
        Run = null,
        PeakBytes = 350 * Mebibyte,
    };
}

namespace LoadResizeSave.Containers;

/// <summary>How a child in a container ended.</summary>
internal enum RunEnding
{
    Finished,

    Killed,

    Crashed,

    Hung,
}

/// <summary>What was charged to the cgroup at one moment, cached files included; seconds since the first job.</summary>
internal readonly record struct CgroupSample(double Seconds, long UsedBytes);

/// <summary>What a child in a container did, and what it took.</summary>
internal sealed record ContainedRun
{
    public required RunEnding Ending { get; init; }

    /// <summary>Gets its exit code; 128 and the number of a signal where one ended it.</summary>
    public int ExitCode { get; init; }

    /// <summary>Gets how many processes of the group the kernel killed for memory, this one or another.</summary>
    public int Kills { get; init; }

    public required IReadOnlyList<JobMessage> Jobs { get; init; }

    /// <summary>Gets what it found at its end; null where it did not come to it.</summary>
    public RunMessage? Run { get; init; }

    /// <summary>Gets who held its memory when most was charged; null unless it was to explain that.</summary>
    public MemoryReading? Most { get; init; }

    /// <summary>Gets what was charged to its group over time, with the first job at second 0.</summary>
    public required IReadOnlyList<CgroupSample> Samples { get; init; }

    /// <summary>Gets the most that ever was charged, in bytes; null where the kernel does not keep it.</summary>
    public long? PeakBytes { get; init; }

    public string Errors { get; init; } = "";

    /// <summary>Gets the jobs done a second; null where it did not come to its end.</summary>
    public double? DonePerSecond => Run is { Seconds: > 0 } run ? Count(JobEnd.Done) / run.Seconds : null;

    /// <summary>Gets the longest time that a job took to its end, whatever that was, in seconds.</summary>
    public double? SlowestJob => Jobs.Max(job => (double?)job.Seconds);

    public int Count(JobEnd end) => Jobs.Count(job => job.End == end);

    /// <summary>Returns how many jobs of the first burst are done, or of all later ones.</summary>
    public int CountDone(bool isFirst) => Jobs.Count(job => job.End == JobEnd.Done && (job.Burst == 0) == isFirst);

    /// <summary>Returns in one line what became of the jobs, and what they took.</summary>
    public string Describe()
    {
        IEnumerable<string> ends = from job in Jobs group job by job.End into jobs orderby jobs.Key select $"{jobs.Count()} {jobs.Key}";
        string speed = DonePerSecond is { } rate ? Invariant($", {rate:0.0} a second") : "";
        return $"{string.Join(", ", ends)}; peak {PeakBytes >> 20} MiB{speed}";
    }

    /// <summary>Writes how the process ended, where not as it should, and what jobs failed of.</summary>
    public void WriteFaults(IAnsiConsole console)
    {
        if (Ending is RunEnding.Crashed or RunEnding.Hung)
        {
            console.MarkupLineInterpolated($"[yellow]  {Ending} with exit code {ExitCode}. {Errors.Split('\n')[0]}[/]");
        }

        foreach (IGrouping<string?, JobMessage> failed in Jobs.Where(job => job.End == JobEnd.Failed).GroupBy(job => job.Reason))
        {
            console.MarkupLineInterpolated($"[yellow]  {failed.Count()} times: {failed.Key}[/]");
        }
    }

    /// <param name="kills">
    /// How many processes of its group the kernel killed for memory: where there are several, it need not be this one.
    /// </param>
    public static RunEnding Judge(int exitCode, int kills, bool hasHung, bool hasResult)
        => exitCode == MemoryCgroup.KilledExitCode && kills > 0 ? RunEnding.Killed
            : hasHung ? RunEnding.Hung
            : exitCode == 0 && hasResult ? RunEnding.Finished
            : RunEnding.Crashed;
}

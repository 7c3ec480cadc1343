namespace LoadResizeSave.Mixed;

/// <summary>All runs of one way of having memory.</summary>
internal sealed class MixedResult(MemoryWay way, int jobs)
{
    /// <summary>How much more memory than at the start the process may have when all jobs have ended.</summary>
    public const long MostLeftBytes = 16 << 20;

    private readonly List<ContainedRun> _runs = [];

    public MemoryWay Way => way;

    public IReadOnlyList<ContainedRun> Runs => _runs;

    public int Good => _runs.Count(run => FindFault(run, jobs) is null);

    /// <summary>Gets what more than at the start is charged after each run, when idle memory was released, in bytes.</summary>
    public IEnumerable<long> LeftBytes
        => _runs.Select(run => run.Run).OfType<RunMessage>().Select(run => run.After.Charged - run.Before.Charged);

    public IEnumerable<long> CollectedBytes
        => _runs.Select(run => run.Run).OfType<RunMessage>().Select(run => run.Collected.Charged - run.Before.Charged);

    public void Add(ContainedRun run) => _runs.Add(run);

    /// <summary>
    /// Returns what is not as it should be in <paramref name="run"/>, or null: it ended by itself; each of <paramref name="jobs"/> jobs is
    /// done or was refused; no counter says that memory is out; and the memory is back.
    /// </summary>
    public static string? FindFault(ContainedRun run, int jobs)
        => run.Ending != RunEnding.Finished ? $"{run.Ending}"
            : run.Count(JobEnd.Done) + run.Count(JobEnd.Refused) + run.Count(JobEnd.RefusedForGood) != jobs ? "jobs failed or were lost"
            : run.Run!.Statistics is { } statistics && ContainedJobs.HasMemoryOut(statistics) ? "memory is out"
            : run.Run.Collected.Charged - run.Run.Before.Charged > MostLeftBytes ? "memory stayed"
            : null;
}

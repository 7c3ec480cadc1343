namespace LoadResizeSave.Chaos;

/// <summary>Something that goes wrong around jobs in a container.</summary>
/// <param name="Disturb">What happens beside the jobs; null where they do it all themselves.</param>
/// <param name="ExtraSeconds">How much longer a job may take because of it.</param>
internal sealed record ChaosScenario(
    string Name,
    string Title,
    int LimitMegabytes,
    int Workers,
    int Jobs,
    IReadOnlyList<JobKind> Kinds,
    Func<ContainedProcess, CancellationToken, Task>? Disturb = null,
    double ExtraSeconds = 0)
{
    /// <summary>The longest that a job may take where nothing goes wrong, in seconds.</summary>
    public const double LongestQuietJob = 45;

    private const int Limit = 350;
    private const int HighLimit = 512;
    private const int NeighbourMegabytes = 120;

    // Longer than a request with a budget waits by default in this program, so that a clock that went on shows.
    private static readonly TimeSpan s_stopped = TimeSpan.FromSeconds(7);

    private static readonly IReadOnlyList<JobKind> s_whole = [JobKind.Whole];

    /// <summary>
    /// Gets all of them. The kinds are never as many as a divisor of the pictures, so that each kind meets each picture.
    /// </summary>
    public static IReadOnlyList<ChaosScenario> All { get; } =
    [
        new("quiet", "nothing goes wrong", Limit, 16, 64, s_whole),
        new(
            "vanishing", "a third of the clients go away; an eighth of the jobs are never disposed", Limit, 16, 96,
            [
                JobKind.Whole, JobKind.Cancelled, JobKind.Whole, JobKind.Abandoned, JobKind.Whole, JobKind.Cancelled, JobKind.Whole,
                JobKind.Cancelled, JobKind.Whole, JobKind.Whole, JobKind.Whole]),
        new(
            "codec", "two of five files end in the middle, and the codec fails there", Limit, 16, 96,
            [JobKind.Whole, JobKind.Truncated, JobKind.Whole, JobKind.Truncated, JobKind.Whole]),
        new(
            "stopped", "the process is stopped for 7 s, twice", Limit, 16, 64, s_whole, Disturbances.StopTwiceAsync(s_stopped),
            ExtraSeconds: 2 * s_stopped.TotalSeconds),
        new(
            "lowered", "the limit goes from 512 to 350 MiB while jobs run", HighLimit, 16, 96, s_whole,
            Disturbances.LowerAsync(HighLimit, Limit)),
        new(
            "neighbour", "another process of the container takes 120 MiB in steps, keeps them for 5 s, and ends", HighLimit, 16, 96,
            s_whole, Disturbances.AddNeighbourAsync(NeighbourMegabytes)),
        new(
            "uploads", "a quarter of the files take 2 s to come, and lie in memory meanwhile", Limit, 24, 96,
            [
                JobKind.SlowUpload, JobKind.Whole, JobKind.Whole, JobKind.Whole, JobKind.SlowUpload, JobKind.Whole,
                JobKind.Whole], ExtraSeconds: 2),
    ];

    // No job may wait longer for the others: a queue that is served in any fair order ends within this.
    private double LongestJob => LongestQuietJob + ExtraSeconds;

    /// <summary>
    /// Returns what is not as it should be in <paramref name="run"/>: a kill, a job that is lost, that failed though nothing was wrong
    /// with it, or that starved, and memory that is out at the end.
    /// </summary>
    /// <param name="mayRefuse">Whether the way of having memory may refuse jobs.</param>
    public IEnumerable<string> FindFaults(ContainedRun run, bool mayRefuse)
    {
        if (run.Ending != RunEnding.Finished)
        {
            yield return Invariant($"{run.Ending} with exit code {run.ExitCode} after {run.Jobs.Count} jobs");
            yield break;
        }

        if (run.Kills > 0)
        {
            yield return "the neighbour was killed";
        }

        if (run.Jobs.Count != Jobs)
        {
            yield return Invariant($"{Jobs - run.Jobs.Count} jobs were lost");
        }

        foreach (IGrouping<JobEnd, JobMessage> wrong in run.Jobs.Where(job => !IsRight(job, mayRefuse)).GroupBy(job => job.End))
        {
            yield return Invariant($"{wrong.Count()} {wrong.Key}: {wrong.First().Kind}, {wrong.First().Reason}");
        }

        if (run.Jobs.Select(job => job.Seconds).DefaultIfEmpty().Max() is var slowest && slowest > LongestJob)
        {
            yield return Invariant($"a job took {slowest:0} s");
        }

        if (run.Run?.Statistics is { } statistics && ContainedJobs.HasMemoryOut(statistics))
        {
            yield return Invariant($"at the end {statistics.OutstandingAllocations} allocations, {statistics.RentedBytes} bytes, are out");
            yield return Invariant($"at the end {statistics.QuarantinedBytes} bytes are quarantined");
            yield return Invariant($"at the end {statistics.BudgetUsedBytes} bytes of the budget are taken");
        }
    }

    // A client that went away in time is done: it depends on the clock whether it did.
    private static bool IsRight(JobMessage job, bool mayRefuse) => (job.Kind, job.End) switch
    {
        (JobKind.Whole or JobKind.SlowUpload, JobEnd.Done) => true,
        (JobKind.Cancelled, JobEnd.Done or JobEnd.Vanished) => true,
        (JobKind.Abandoned, JobEnd.Vanished) => true,
        (JobKind.Truncated, JobEnd.Damaged) => true,
        (_, JobEnd.Refused) => mayRefuse,
        _ => false,
    };
}

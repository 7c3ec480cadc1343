namespace LoadResizeSave.Survival;

/// <summary>One way of having memory, in containers of one size, with so many jobs at once: all its runs.</summary>
internal sealed class SurvivalCell(ComparedWay way, int limitMegabytes, int atOnce, int jobs, int wantedRuns, int bursts = 1)
{
    private readonly List<ContainedRun> _runs = [];

    public ComparedWay Way => way;

    public int LimitMegabytes => limitMegabytes;

    public int AtOnce => atOnce;

    public int Jobs => jobs;

    public int Bursts => bursts;

    /// <summary>Gets how many runs were asked for; there may be fewer where the time was over.</summary>
    public int WantedRuns => wantedRuns;

    public IReadOnlyList<ContainedRun> Runs => _runs;

    public int Killed => Count(RunEnding.Killed);

    public int Finished => Count(RunEnding.Finished);

    public double? DonePerRun => Average(JobEnd.Done);

    /// <summary>Gets the jobs refused, for the time being or for good, on average over all runs.</summary>
    public double? RefusedPerRun => Average(JobEnd.Refused) + Average(JobEnd.RefusedForGood);

    /// <summary>Gets the jobs that failed in any other way, on average over all runs.</summary>
    public double? FailedPerRun => Average(JobEnd.Failed);

    /// <summary>Gets the jobs done a second, the median of the runs that came to their end; null where none did.</summary>
    public double? DonePerSecond
        => _runs.Select(
            run => run.DonePerSecond).OfType<double>().ToList() is { Count: > 0 } rates ? Statistics.Median(rates) : null;

    public long? PeakBytes => _runs.Max(run => run.PeakBytes);

    /// <summary>Gets the longest time that a job took to its end, whatever that was, in seconds.</summary>
    public double? SlowestJob => _runs.Max(run => run.SlowestJob);

    /// <summary>Gets the seconds from the first job to the last, the median of the runs that finished; null where none did.</summary>
    public double? Seconds
        => _runs.Select(run => run.Run?.Seconds).OfType<double>().ToList() is { Count: > 0 } all ? Statistics.Median(all) : null;

    /// <summary>Returns the least share of jobs that one run has done, of its first burst or of all later ones.</summary>
    public double? LeastDoneShare(bool isFirst)
    {
        int first = jobs / bursts;
        return _runs.Min(run => (double?)run.CountDone(isFirst) / (isFirst ? first : jobs - first));
    }

    /// <summary>Gets whether the library's claim holds here; null where there is none, or no run.</summary>
    public bool? KeepsClaim => Way.Claim is not { } claim || _runs.Count == 0
        ? null
        : Finished >= claim.SurvivingShare * _runs.Count
            && (claim.MayFail || _runs.Where(run => run.Ending == RunEnding.Finished).All(run => run.Count(JobEnd.Done) == Jobs));

    public void Add(ContainedRun run) => _runs.Add(run);

    /// <summary>Returns the order of a round: every other one backwards, so that no cell always runs after the same other one.</summary>
    public static IEnumerable<SurvivalCell> InTurn(IReadOnlyList<SurvivalCell> cells, int round)
        => round % 2 == 0 ? cells : cells.Reverse();

    public string Outcome => string.Join(", ", ((string?[])
    [
        Finished == _runs.Count ? $"all {_runs.Count} survived" : null,
        Killed > 0 ? $"killed {Killed} of {_runs.Count}" : null,
        Count(RunEnding.Crashed) is > 0 and var crashed ? $"crashed {crashed} of {_runs.Count}" : null,
        Count(RunEnding.Hung) is > 0 and var hung ? $"hung {hung} of {_runs.Count}" : null,
    ]).OfType<string>());

    private int Count(RunEnding ending) => _runs.Count(run => run.Ending == ending);

    private double? Average(JobEnd end) => _runs.Count == 0 ? null : _runs.Average(run => run.Count(end));
}

namespace LoadResizeSave.Mixed;

/// <summary>
/// The command that runs JPEGs and PNGs of mixed sizes in a container, as an image service does, without the web server.
/// </summary>
internal sealed class MixedCommand(MeasurementRun run)
{
    private const double Mebibyte = 1 << 20;
    private const double SettleSeconds = 1;

    private static readonly Option<string[]> s_ways = ContainerOptions.Ways("default", "free", "reserve");
    private static readonly Option<int> s_limit = ContainerOptions.Number("--limit", "MiB of the container.", 400, least: 64);
    private static readonly Option<int> s_workers = ContainerOptions.Number("--workers", "Jobs at once.", 16);
    private static readonly Option<int> s_jobs = ContainerOptions.Number("--jobs", "Jobs of a run.", 160);
    private static readonly Option<int> s_runs = ContainerOptions.Number("--runs", "Runs of each way.", 20);
    private static readonly Option<double> s_minutes = ContainerOptions.Minutes();

    private readonly int _limit = run.Get(s_limit);
    private readonly int _workers = run.Get(s_workers);
    private readonly int _jobs = run.Get(s_jobs, 32);

    public static Command Create() => new Command(
        "mixed", "Makes JPEGs and PNGs of mixed sizes smaller in a memory cgroup, and says what stayed of the memory.")
    {
        s_ways, s_limit, s_workers, s_jobs, s_runs, s_minutes,
    }.MeasuresContainers("LoadResizeSave-mixed", (run, cancellationToken) => new MixedCommand(run).MeasureAsync(cancellationToken));

    // A way of the library fails with a run that was not as it should be.
    private async Task<ResultDocument> MeasureAsync(CancellationToken cancellationToken)
    {
        ContainerPictures pictures = new(null, ContainerOptions.WorkFolder);
        ContainedOptions options = new()
        {
            Way = "",
            LimitMegabytes = _limit,
            Workers = _workers,
            Jobs = _jobs,
            Pictures = pictures.GetMixed(),
            WarmUp = pictures.GetSmall(),
            SettleSeconds = SettleSeconds,
        };
        List<MixedResult> results = [.. ContainerOptions.GetWays(run.Get(s_ways)).Select(way => new MixedResult(way, _jobs))];
        Stopwatch clock = Stopwatch.StartNew();
        for (int i = 0; i < run.Get(s_runs, 1) && clock.Elapsed.TotalMinutes < run.Get(s_minutes); i++)
        {
            foreach (MixedResult result in results)
            {
                ContainedRun one = await ContainedProcess.RunAsync(
                    options with { Way = result.Way.Name }, _limit, cancellationToken: cancellationToken);
                result.Add(one);
                Write(one, Invariant($"{result.Way.Name,-10} run {i + 1,2}"));
            }
        }

        foreach (MixedResult result in results.Where(result => result.Way.IsOfLibrary && result.Good < result.Runs.Count))
        {
            run.Failures.Add($"{result.Way.Name}: {result.Good} of {result.Runs.Count} runs were good");
        }

        return Complete(run.NewDocument(Invariant($"JPEGs and PNGs of mixed sizes in a container of {_limit} MiB")), results);
    }

    private ResultDocument Complete(ResultDocument document, IReadOnlyList<MixedResult> results) => document with
    {
        Tables =
        [
            new ResultTable
            {
                Title = Invariant($"{_jobs} jobs, {_workers} at once"),
                Labels = ["memory", "outcome"],
                Columns =
                [
                    new("runs", null, "N0"), new("killed", "runs", "N0"), new("done", "a run", "0.0"), new("refused", "a run", "0.0"),
                    new("failed", "a run", "0.0"), new("done", "a second", "0.0"), new("peak of cgroup", "MiB", "0"),
                    new("more than at the start", "MiB, median", "0.0"), new("more than at the start", "MiB, most", "0.0"),
                    new("after a collection", "MiB, most", "0.0"), new("slowest job", "seconds", "0.0"),
                ],
                Rows = [.. results.Where(result => result.Runs.Count > 0).Select(CreateRow)],
            },
        ],
        Notes =
        [
            "Ten pictures of 0.3 to 15 megapixels, six of them JPEG, four PNG, in turn; each is read, decoded, made a quarter as wide and "
                + "as high, and encoded in its own format, by libjpeg-turbo and by this program's PNG codec over the base library's zlib.",
            "No environment variable that concerns memory is set.",
            "A run is good when each job is done or was refused, no counter of the library is above zero, and the memory is back.",
            Invariant($"It is back when at most {MixedResult.MostLeftBytes >> 20} MiB more than at the start is charged, without cached ")
                + "files, after ReleaseRetainedResources and a collection: arrays that the library has dropped are garbage until then.",
            "The start is after one small picture in each format on each thread, and ReleaseRetainedResources.",
            Invariant($"What is charged after that call alone was read {SettleSeconds} second after the last job."),
        ],
    };

    private void Write(ContainedRun one, string name)
    {
        run.Console.WriteLine($"{name}: {MixedResult.FindFault(one, _jobs) ?? "good"}, {one.Describe()}");
        if (one.Run is { } end)
        {
            run.Console.WriteLine($"  before    {end.Before.Describe()}");
            run.Console.WriteLine($"  after     {end.After.Describe()}");
            run.Console.WriteLine($"  collected {end.Collected.Describe()}");
        }

        one.WriteFaults(run.Console);
    }

    private static ResultRow CreateRow(MixedResult result) => new(
        [
            result.Way.Title,
            result.Good == result.Runs.Count
                ? Invariant($"all {result.Good} good")
                : Invariant($"{result.Good} of {result.Runs.Count} good"),
        ],
        [
            result.Runs.Count,
            result.Runs.Count(run => run.Ending == RunEnding.Killed),
            result.Runs.Average(run => run.Count(JobEnd.Done)),
            result.Runs.Average(run => run.Count(JobEnd.Refused) + run.Count(JobEnd.RefusedForGood)),
            result.Runs.Average(run => run.Count(JobEnd.Failed)),
            Median(result.Runs.Select(run => run.DonePerSecond).OfType<double>()),
            result.Runs.Max(run => run.PeakBytes) / Mebibyte,
            Median(result.LeftBytes.Select(bytes => bytes / Mebibyte)),
            Most(result.LeftBytes),
            Most(result.CollectedBytes),
            result.Runs.Max(run => run.SlowestJob),
        ]);

    private static double? Median(IEnumerable<double> values)
        => values.ToList() is { Count: > 0 } list ? Statistics.Percentile(list, 0.5) : null;

    private static double? Most(IEnumerable<long> bytes) => bytes.Select(value => (double?)value).DefaultIfEmpty().Max() / Mebibyte;
}

namespace ThumbnailService.Reporting;

/// <summary>The result: what became of the runs and of their requests, and the memory over time with the limit as a line.</summary>
internal sealed class ServiceReport(int requests, int clients, IReadOnlyList<UploadFile> files, TimeSpan idle)
{
    public const string Title = "A thumbnail service under more load than fits its container";

    private const double Mebibyte = 1 << 20;

    // A chart as wide as a page shows no more.
    private const int MostPoints = 400;

    public ResultDocument Complete(ResultDocument document, IReadOnlyList<ServiceTrialResult> results) => document with
    {
        Tables =
        [
            CreateTable(results),
            Times([.. results.Where(result => result.Trial.IsProtected).GroupBy(result => result.Trial).Select(
                runs => (Invariant($"{runs.Key.LimitMegabytes} MiB"), runs.SelectMany(result => result.Outcomes)))]),
        ],
        Notes = [.. Notes()],
        Charts = [.. results.GroupBy(result => result.Trial.LimitMegabytes).Select(runs => CreateChart(runs.Key, [.. runs]))],
    };

    /// <summary>Returns how long answers took, by their status.</summary>
    public static ResultTable Times(IEnumerable<(string Name, IEnumerable<RequestOutcome> Outcomes)> services) => new()
    {
        Title = "Seconds to the end of the answer",
        Labels = ["service", "answer"],
        Columns =
        [
            new("answers", null, "N0"), new("p50", "s", "0.00"), new("p90", "s", "0.00"), new("p99", "s", "0.00"),
            new("longest", "s", "0.00"),
        ],
        Rows =
        [
            .. from service in services
               from status in service.Outcomes.GroupBy(Describe).OrderBy(status => status.Key, StringComparer.Ordinal)
               let seconds = status.Select(outcome => outcome.Seconds).ToList()
               select new ResultRow(
                   [service.Name, status.Key],
                   [
                       seconds.Count, Statistics.Percentile(seconds, 0.5), Statistics.Percentile(seconds, 0.9),
                       Statistics.Percentile(seconds, 0.99), seconds.Max(),
                   ]),
        ],
    };

    private static string Describe(RequestOutcome outcome) => outcome switch
    {
        { Status: { } status, Request.Kind: RequestKind.Bomb } => Invariant($"{status} for a bomb"),
        { Status: { } status, Request.Kind: RequestKind.Cut } => Invariant($"{status} for a cut file"),
        { Status: { } status, Request.Kind: RequestKind.Slow } => Invariant($"{status} after a slow upload"),
        { Status: { } status } => Invariant($"{status}"),
        { Failure: null } => "none: the client went",
        _ => "none",
    };

    private ResultTable CreateTable(IReadOnlyList<ServiceTrialResult> results) => new()
    {
        Title = Invariant($"{requests} requests a run, {clients} clients at once"),
        Labels = ["container", "requests", "outcome"],
        Columns =
        [
            new("runs", null, "N0"), new("killed", "runs", "N0"), new("200", "a run", "0.0"), new("503", "a run", "0.0"),
            new("413", "a run", "0.0"), new("422", "a run", "0.0"), new("other answers", "in all", "N0"),
            new("thumbnails", "a second", "0.0"), new("peak of cgroup", "MiB, most", "0"), new("at the start", "MiB, median", "0"),
            new("more at the end", "MiB, median", "0.0"),
            new("more at the end", "MiB, most", "0.0"),
        ],
        Rows = [.. results.GroupBy(result => result.Trial).Select(runs => CreateRow(runs.Key, [.. runs]))],
    };

    private static ResultRow CreateRow(ServiceTrial trial, IReadOnlyList<ServiceTrialResult> runs)
    {
        int good = runs.Count(result => !result.Faults.Any());
        double Count(int status) => runs.Average(result => result.Outcomes.Count(outcome => outcome.Status == status));
        List<ServiceTrialResult> alive = [.. runs.Where(result => result.Kills == 0)];
        List<double> left = [.. alive.Select(result => (result.EndBytes - result.StartBytes) / Mebibyte)];
        return new ResultRow(
            [
                Invariant($"{trial.LimitMegabytes} MiB"),
                trial.IsProtected ? "admitted by memory" : "all let in",
                good == runs.Count ? Invariant($"all {good} good")
                    : runs.All(result => result.Kills > 0) ? "killed"
                    : Invariant($"{good} of {runs.Count} good"),
            ],
            [
                runs.Count, runs.Count(result => result.Kills > 0), Count(200), Count(503), Count(413), Count(422),
                runs.Sum(result => result.Outcomes.Count(outcome => outcome.Status is not (null or 200 or 503 or 413 or 422))),
                alive.Count == 0
                    ? null
                    : alive.Sum(result => result.Outcomes.Count(outcome => outcome.Thumbnail is not null))
                        / alive.Sum(result => result.Seconds),
                runs.Max(result => result.PeakBytes) / Mebibyte,
                Statistics.Median(runs.Select(result => result.StartBytes / Mebibyte)),
                left.Count == 0 ? null : Statistics.Median(left), left.Count == 0 ? null : left.Max(),
            ]);
    }

    // Of several runs the first: they are alike.
    private static ResultChart CreateChart(int limit, IReadOnlyList<ServiceTrialResult> runs)
    {
        ServiceTrialResult admitted = runs.First(result => result.Trial.IsProtected);
        ServiceTrialResult unprotected = runs.First(result => !result.Trial.IsProtected);
        double end = Seconds(admitted, admitted.Charges[^1].Time);
        return new ResultChart
        {
            Title = Invariant($"Memory of the thumbnail service in {limit} MiB"),
            Kind = ChartKind.Lines,
            X = "seconds since the first request",
            Y = "MiB",
            Series =
            [
                new("the limit", [new ResultPoint(0, limit), new ResultPoint(Math.Round(end, 1), limit)]),
                Charge("admitted by memory: charged", admitted),
                Own("– of it outstanding", admitted, sample => sample.Outstanding),
                Own("– reserved, and not used yet", admitted, sample => sample.Reserved),
                Charge(unprotected.Kills > 0 ? "all let in: charged (killed)" : "all let in: charged", unprotected),
            ],
        };
    }

    private static ResultSeries Charge(string name, ServiceTrialResult result)
    {
        // Of neighbours the highest is kept: a chart that leaves out peaks would show what is not so.
        int group = Math.Max(1, (int)Math.Ceiling(result.Charges.Count / (double)MostPoints));
        return new ResultSeries(
            name,
            [
                .. result.Charges.Chunk(group).Select(points => new ResultPoint(
                    Math.Round(Seconds(result, points[0].Time), 2), Math.Round(points.Max(point => point.Bytes) / Mebibyte, 1))),
            ]);
    }

    private static ResultSeries Own(string name, ServiceTrialResult result, Func<HistorySample, long> bytes) => new(
        name,
        [
            .. from sample in result.History ?? []
               let seconds = Seconds(result, DateTimeOffset.FromUnixTimeMilliseconds(sample.Time))
               where seconds >= 0
               select new ResultPoint(Math.Round(seconds, 2), Math.Round(bytes(sample) / Mebibyte, 1)),
        ]);

    private static double Seconds(ServiceTrialResult result, DateTimeOffset time) => (time - result.Started).TotalSeconds;

    private IEnumerable<string> Notes() =>
    [
        $"{files.Count} pictures of 0.3 to 15 megapixels in turn: {string.Join(", ", files.Select(file => file.Name))}. Of twenty "
            + "requests two take two seconds to send theirs, one breaks off, one sends half a file, and two send bombs: files of some "
            + "kilobytes that promise gigabytes of pixels. The rest, and the bombs, come as fast as they can.",
        "No environment variable is set; the service has its defaults: an eighth of what .NET may use of the container, which is three "
            + "quarters, stays free (MinimumFreeMegabytes), and the library fixes malloc's map threshold "
            + "(SetNativeMapThreshold). Load generator and service share the machine.",
        "All let in: the same service without RequireMemory, with HonorMemoryLimit = false and MinimumFreeMegabytes = 0. It refuses bombs "
            + "by their headers too. Thumbnails a second are those of runs that were not killed.",
        "A run is good when the service was not killed, each answer is 200, 503 with Retry-After, or 413, and for bombs and half files "
            + "422 or 413; when each picture always gave the same thumbnail; and when afterwards no memory is outstanding or reserved, "
            + $"and at most {ServiceTrialResult.MostLeftBytes >> 20} MiB more than at the start is charged.",
        Invariant($"Charged is what the kernel cannot drop: no cached files, but shared memory. The start is {idle.TotalSeconds} s ")
            + "after each picture was sent once, all at the same time; the end is as long after the last answer, without any call from "
            + "outside. Idle blocks go by the library's trims, every 3 s. When it was idle for 3 s the service collects garbage and "
            + "calls NativeHeap.TryTrim, once: .NET and malloc do neither while nothing is allocated. The peak of the cgroup is the "
            + "kernel's own, cached files included.",
    ];
}

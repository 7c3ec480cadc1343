namespace LoadResizeSave.Pipelines;

/// <summary>The result: the table of the README, all figures without a limit and in containers, a picture of memory, and a summary.</summary>
internal sealed class PipelineReport
{
    public const string Title = "Whole pipelines in a container, by themselves and as jobs";

    public const string Program = "LoadResizeSave-pipelines";

    public const string ChartFile = Program + ".svg";

    /// <summary>More than a semaphore for such a container would let in.</summary>
    public const int FewestAtOnce = 4;

    private const double Mebibyte = 1 << 20;
    private const string NotMeasured = "–";

    private readonly IReadOnlyList<SurvivalCell> _atLarge;
    private readonly IReadOnlyList<SurvivalCell> _contained;
    private readonly IReadOnlyList<string> _notes;

    /// <summary>Prepares the report on cells whose limit is 0 at large; <paramref name="notes"/> come first.</summary>
    public PipelineReport(IReadOnlyList<SurvivalCell> cells, IReadOnlyList<string> notes)
    {
        _atLarge = [.. cells.Where(cell => cell.LimitMegabytes == 0)];
        _contained = [.. cells.Where(cell => cell.LimitMegabytes > 0)];
        _notes = notes;
    }

    public ResultDocument Complete(ResultDocument document) => document with
    {
        Tables = _contained.Count == 0 ? [CreateOverview(), CreateAtLarge()] : [CreateOverview(), CreateAtLarge(), CreateContained()],
        Notes = [.. _notes, .. Notes(), Verdict()],
        Charts =
        [
            new ResultChart
            {
                Title = "Photographs a second, without a limit",
                Kind = ChartKind.Bars,
                X = "",
                Y = "photographs a second",
                Categories = [.. _atLarge.Select(cell => cell.Way.Title)],
                Series = [new ResultSeries("median", [.. _atLarge.Select((cell, i) => new ResultPoint(i, cell.DonePerSecond ?? 0))])],
            },
        ],
        Pictures = _contained.Count == 0 ? [] : [new ResultPicture(ChartTitle(), ChartFile)],
    };

    /// <summary>Returns the picture of memory with the most at once; null where nothing ran in containers.</summary>
    public string? DrawChart() => _contained.Count == 0
        ? null : new SurvivalChart(ChartTitle(), [.. Crowded().Where(cell => cell.Runs.Count > 0)], "whole pipelines of others").Render();

    private string ChartTitle()
        => Invariant($"{Crowded().First().AtOnce} photographs at once in {Container()}, each library with its own memory");

    private string Container() => Invariant($"a container of {_contained[0].LimitMegabytes} MiB");

    private IEnumerable<SurvivalCell> Crowded() => _contained.Where(cell => cell.AtOnce == _contained.Max(other => other.AtOnce));

    // A row for each library: alone and as a job with the most at once. This library's own pipelines are jobs anyway.
    private ResultTable CreateOverview() => new()
    {
        Title = Title,
        Labels = _contained.Count == 0
            ? ["library"]
            : ["library", Invariant($"by itself in {_contained[0].LimitMegabytes} MiB, {Crowded().First().AtOnce} at once"), "as a job"],
        Columns = [new("photographs a second", null, "0.0")],
        Rows = [.. _atLarge.Where(cell => ((Pipeline)cell.Way).JobOf is null).Select(CreateRow)],
    };

    private ResultRow CreateRow(SurvivalCell atLarge)
    {
        if (_contained.Count == 0)
        {
            return new([atLarge.Way.Title], [atLarge.DonePerSecond]);
        }

        SurvivalCell? alone = Crowded().FirstOrDefault(cell => cell.Way == atLarge.Way);
        SurvivalCell? job = Crowded().FirstOrDefault(cell => ((Pipeline)cell.Way).JobOf == atLarge.Way.Name);
        (alone, job) = atLarge.Way.IsOfLibrary ? (null, alone) : (alone, job);
        return new([atLarge.Way.Title, Outcome(alone), Outcome(job)], [(job ?? alone)?.DonePerSecond]);
    }

    private ResultTable CreateAtLarge() => new()
    {
        Title = "Without a limit",
        Labels = ["pipeline"],
        Columns =
        [
            new("runs", null, "N0"), new("finished", "runs", "N0"), new("jobs", "a run", "N0"), new("done", "a run", "0.0"),
            new("slowest run", "a second", "0.0"), new("median run", "a second", "0.0"), new("fastest run", "a second", "0.0"),
            new("CPU", "ms a photograph", "0"), new("peak", "MB", "0"), new("at the end", "MB", "0"),
        ],
        Rows =
        [
            .. _atLarge.Select(cell => new ResultRow(
                [cell.Way.Title],
                [
                    cell.Runs.Count, cell.Finished, cell.Jobs, cell.DonePerRun, Slowest(cell), cell.DonePerSecond, Fastest(cell),
                    Median(cell, one => CpuTime(one) / one.Count(JobEnd.Done)),
                    Median(cell, one => one.Run!.PeakResidentBytes / 1e6),
                    Median(cell, one => one.Run!.FinalResidentBytes / 1e6),
                ])),
        ],
    };

    private ResultTable CreateContained() => new()
    {
        Title = Invariant($"In {_contained[0].LimitMegabytes} MiB"),
        Labels = ["at once", "pipeline", "outcome"],
        Columns =
        [
            new("runs", null, "N0"), new("jobs", "a run", "N0"), new("done", "a run", "0.0"), new("refused", "a run", "0.0"),
            new("failed", "a run", "0.0"), new("done", "a second", "0.0"), new("peak of cgroup", "MiB", "0"),
        ],
        Rows =
        [
            .. _contained.OrderBy(cell => cell.AtOnce).Select(cell => new ResultRow(
                [Invariant($"{cell.AtOnce}"), cell.Way.Title, cell.Outcome],
                [
                    cell.Runs.Count, cell.Jobs, cell.DonePerRun, cell.RefusedPerRun, cell.FailedPerRun, cell.DonePerSecond,
                    cell.PeakBytes / Mebibyte,
                ])),
        ],
    };

    private static string Outcome(SurvivalCell? cell) => cell switch
    {
        null => NotMeasured,
        _ when IsAlive(cell) => Invariant($"alive, all {cell.Jobs} done"),
        { Runs.Count: > 0 } when cell.Killed == cell.Runs.Count =>
            Invariant($"killed in every run, {cell.DonePerRun:0.#} of {cell.Jobs} done"),
        _ => Invariant($"{cell.Outcome}, {cell.DonePerRun:0.#} of {cell.Jobs} done"),
    };

    private static bool IsAlive(SurvivalCell cell)
        => cell.Runs.Count > 0 && cell.Finished == cell.Runs.Count && cell.Runs.All(run => run.Count(JobEnd.Done) == cell.Jobs);

    // Of what came to its end; a picture that failed costs less than one that was made, so it is not counted.
    private static double? Median(SurvivalCell cell, Func<ContainedRun, double> read)
        => cell.Runs.Where(run => run.Run is not null && run.Count(JobEnd.Done) > 0).Select(read).ToList() is { Count: > 0 } values
            ? Statistics.Median(values) : null;

    private static double CpuTime(ContainedRun run) => (run.Run!.Cost!.UserTime + run.Run.Cost.SystemTime).TotalMilliseconds;

    private static double? Slowest(SurvivalCell cell) => cell.Runs.Min(run => run.DonePerSecond);

    private static double? Fastest(SurvivalCell cell) => cell.Runs.Max(run => run.DonePerSecond);

    // Where runs of another are as fast as some of the best one, the two are not told apart.
    private static string DescribeFastest(IEnumerable<SurvivalCell> cells)
    {
        List<SurvivalCell> ordered =
            [.. cells.Where(cell => cell.DonePerSecond is not null).OrderByDescending(cell => cell.DonePerSecond)];
        return string.Join(" and ", ordered.Where(cell => Fastest(cell) >= Slowest(ordered[0])).Select(
            cell => Invariant($"{cell.Way.Title} ({cell.DonePerSecond:0.0} a second)")));
    }

    /// <summary>Returns which are alive in the containers, and which are fastest there and without a limit.</summary>
    public string Verdict()
    {
        string whole = DescribeFastest(_atLarge.Where(cell => !((Pipeline)cell.Way).Shrinks));
        string shrinking = DescribeFastest(_atLarge.Where(cell => ((Pipeline)cell.Way).Shrinks));
        string atLarge = string.Join(' ', ((string?[])
        [
            whole.Length > 0 ? $"Without a limit, the fastest that decodes the whole picture: {whole}." : null,
            shrinking.Length > 0 ? $"The fastest that shrinks it while decoding: {shrinking}." : null,
            "Libraries that allocate for each photograph pay for page faults; the timings include them.",
        ]).OfType<string>());
        if (_contained.Count == 0)
        {
            return atLarge;
        }

        List<SurvivalCell> alive = [
            .. Crowded().Where(cell => _contained.Where(other => other.Way == cell.Way).All(IsAlive)).OrderByDescending(
                cell => cell.DonePerSecond)];
        string contained = alive.Count == 0
            ? "none stays alive and finishes all photographs in every run."
            : $"these stay alive and finish all photographs in every run: {string.Join("; ", alive.Select(cell => cell.Way.Title))}. "
            + Invariant($"Fastest with {alive[0].AtOnce} at once: {DescribeFastest(alive)}.");
        return $"In {Container()}, {contained} {atLarge}";
    }

    private IEnumerable<string> Notes() =>
    [
        Invariant($"Each pipeline decodes a file, fits it into {Pipeline.Side} x {Pipeline.Side} and saves it as a JPEG of quality 85, ")
            + "as the documentation of its library shows, with that library's defaults.",
        Invariant($"Without a limit: {_atLarge[0].AtOnce} photographs at once, {_atLarge[0].Jobs} per run. Medians of ")
            + Invariant($"{_atLarge[0].Runs.Count} runs that take turns, every other round backwards, each in its own process, ")
            + "after one photograph that does not count.",
        "As a job: the same code inside a reservation by name, with PictureHeader.ExpectedBytes as its size and no other number. "
            + "A minimum stays free as AddMemoryAllocator sets it.",
        "Thumbnail and LargestSize let the codec shrink while it decodes; the others decode the whole picture. OpenCV and Magick.NET "
            + "can shrink too (ImreadModes, jpeg:size), which was not measured. Filters are those of each library's documentation.",
        "Peak is the kernel's high-water mark of the process. At the end is two seconds after the last photograph, when Allocator "
            + "(whose call includes malloc_trim), NetVips, ImageSharp and SkiaSharp were asked to release what they keep. OpenCvSharp "
            + "and Magick.NET were not.",
        "Allocator.SkiaSharp uses DecodeBitmapAsync under the same minimum: photographs wait for memory. Allocator.ImageSharp uses the "
            + "same allocator and an ambient reservation by name around the calls of ImageSharp 2.1; later versions were not measured. "
            + "In these containers malloc maps from 1 MiB on, as with any minimum that stays free; without a limit it has its own "
            + "threshold. WorkingBytes cover what 15 megapixels take besides the picture.",
        "A semaphore would have to let in 1 or 2 at once for the other pipelines to survive in such a container.",
        "A container is a memory cgroup without swap. Alive: the process ended by itself, with its result. Killed: by the kernel, for "
            + "memory. Crashed: it ended in any other way. Hung: it was ended after two minutes. The cgroup's peak includes cached files.",
    ];
}

namespace LoadResizeSave.Pipelines;

/// <summary>The result: a table of all pipelines, one for containers, a picture of memory, and a sentence: alive and fastest.</summary>
internal sealed class PipelineReport
{
    public const string Title = "What a user would pick instead";

    public const string Program = "LoadResizeSave-pipelines";

    public const string ChartFile = Program + ".svg";

    private const double Mebibyte = 1 << 20;
    private const int FewestAtOnce = 4;

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
        Tables = _contained.Count == 0
            ? [CreateAtLarge()]
            : [CreateOverview(), CreateSemaphores(), CreateAtLarge(), CreateContained()],
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
        => Invariant($"{MostAtOnce} photographs at once in {Container()}, each library with its own memory");

    private string Container() => Invariant($"a container of {_contained[0].LimitMegabytes} MiB");

    private int MostAtOnce => _contained.Max(cell => cell.AtOnce);

    private IEnumerable<SurvivalCell> Crowded() => _contained.Where(cell => cell.AtOnce == MostAtOnce);

    private SurvivalCell? JobOf(SurvivalCell own, bool hasSize)
        => Crowded().FirstOrDefault(cell => PipelineOf(cell).Admits == own.Way && PipelineOf(cell).HasSize == hasSize);

    private static Pipeline PipelineOf(SurvivalCell cell) => (Pipeline)cell.Way;

    // One row for each library with its own memory, then those of this library.
    private ResultTable CreateOverview() => new()
    {
        Title = Title,
        Labels = ["library", Invariant($"by itself, {MostAtOnce} at once in {_contained[0].LimitMegabytes} MiB"), "as a job"],
        Columns = [new("photographs", "a second", "0.0")],
        Rows =
        [
            .. Crowded().Where(cell => PipelineOf(cell).Admits is null).Select(cell =>
            {
                SurvivalCell? job = cell.Way.IsOfLibrary ? cell : JobOf(cell, hasSize: true);
                return new ResultRow(
                    [cell.Way.Title, cell.Way.IsOfLibrary ? "–" : Outcome(cell), job is null ? "–" : Outcome(job)], [job?.DonePerSecond]);
            }),
        ],
    };

    // A semaphore that the kernel ended once is none to live with, and one without room for as many of the largest is alive by luck.
    private ResultTable CreateSemaphores() => new()
    {
        Title = "Beside a semaphore",
        Labels = ["library", "best semaphore alive in every run", "as a job", "as a job by name"],
        Columns =
        [
            new("semaphore", "a second", "0.0"), new("as a job", "a second", "0.0"), new("to the semaphore", null, "0.00"),
            new("by name", "a second", "0.0"), new("by name to the semaphore", null, "0.00"),
        ],
        Rows =
        [
            .. Crowded().Where(cell => !cell.Way.IsOfLibrary).Select(cell =>
            {
                SurvivalCell? best = _contained.Where(other => other.Way == cell.Way && other.AtOnce < FewestAtOnce && IsAlive(other))
                    .MaxBy(other => other.DonePerSecond);
                (SurvivalCell? job, SurvivalCell? named) = (JobOf(cell, hasSize: true), JobOf(cell, hasSize: false));
                return new ResultRow(
                    [
                        cell.Way.Title, best is null ? "none" : Invariant($"of {best.AtOnce}, {best.PeakBytes / Mebibyte:0} MiB"),
                        job is null ? "–" : Outcome(job), named is null ? "–" : Outcome(named),
                    ],
                    [
                        best?.DonePerSecond, job?.DonePerSecond, job?.DonePerSecond / best?.DonePerSecond, named?.DonePerSecond,
                        named?.DonePerSecond / best?.DonePerSecond,
                    ]);
            }),
        ],
    };

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

    private static string Outcome(SurvivalCell cell) => cell switch
    {
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
        string whole = DescribeFastest(_atLarge.Where(cell => !PipelineOf(cell).Shrinks));
        string shrinking = DescribeFastest(_atLarge.Where(cell => PipelineOf(cell).Shrinks));
        string atLarge = string.Join(' ', ((string?[])
        [
            whole.Length > 0 ? $"Without a limit the fastest that decode the whole picture: {whole}." : null,
            shrinking.Length > 0 ? $"Of those that shrink it while they decode: {shrinking}." : null,
            "Ways that take new memory for each photograph pay the first write to each page, whose time the result has.",
        ]).OfType<string>());
        if (_contained.Count == 0)
        {
            return atLarge;
        }

        List<SurvivalCell> alive = [
            .. Crowded().Where(cell => _contained.Where(other => other.Way == cell.Way && other.AtOnce >= FewestAtOnce).All(IsAlive)).OrderByDescending(
                cell => cell.DonePerSecond)];
        string contained = alive.Count == 0
            ? "none is alive with all photographs done in every run."
            : $"alive with all photographs done in every run: {string.Join("; ", alive.Select(cell => cell.Way.Title))}. "
            + Invariant($"Fastest with {alive[0].AtOnce} at once: {DescribeFastest(alive)}.");
        return $"In {Container()}, {contained} {atLarge}";
    }

    private IEnumerable<string> Notes() =>
    [
        Invariant($"Each pipeline decodes a file, fits it into {Pipeline.Side} x {Pipeline.Side}, and saves it as JPEG of quality 85, as ")
            + "the documentation of its library shows it, with the defaults of that library.",
        Invariant($"Without a limit: {_atLarge[0].AtOnce} photographs at once, {_atLarge[0].Jobs} in a run. Medians of ")
            + Invariant($"{_atLarge[0].Runs.Count} runs that take turns, every other round backwards, each in a process of its own, ")
            + "after one photograph that does not count.",
        "Thumbnail and LargestSize let the codec shrink while it decodes; the others decode the whole picture. OpenCV and Magick.NET "
            + "can shrink too (ImreadModes, jpeg:size): that was not measured. Filters are those of each library's documentation.",
        "Peak is the kernel's high-water mark of the process. At the end is two seconds after the last photograph, when Allocator "
            + "(whose call includes malloc_trim), ImageSharp and SkiaSharp were asked to release what they keep; the others were not.",
        "Allocator.SkiaSharp has MinimumFreeMegabytes as AddMemoryAllocator sets it without a number, and DecodeBitmapAsync: photographs "
            + "wait for memory. Allocator.ImageSharp has the same allocator, and a learned, ambient job for each photograph around the "
            + "calls of ImageSharp, which is of version 2.1; later ones were not measured. In their containers "
            + "malloc maps from 1 MiB on, as with any minimum that stays free; without a limit it has its own threshold. WorkingBytes say "
            + "what 15 megapixels take beside the picture.",
        "NetVips keeps no results of operations (Cache.Max = 0): with its default cache it keeps decoded pictures, and even one photograph "
            + "after another was killed.",
        "As a job: the library with its own memory, within ReserveAsync of MemoryAllocator.Default, for which nothing is set; its size is "
            + "the pixels of the header, or it has a name only. 1 and 2 at once are what a semaphore lets in, with 24 photographs.",
        "A container is a memory cgroup without swap. Alive: the process ended by itself, with its result. Killed: by the kernel, for "
            + "memory. Crashed: it ended in any other way. Hung: it was ended after two minutes. Peak of cgroup includes cached files.",
    ];
}

namespace LoadResizeSave.Survival;

/// <summary>The result: a table for each container's limit, what of the claims was reached, and a picture of memory over time.</summary>
internal sealed class SurvivalReport
{
    public const string Title = "Photographs in containers: who is killed";

    public const string Program = "LoadResizeSave-survival";

    /// <summary>The name of a result whose runs have several bursts, which learned jobs need.</summary>
    public const string ProgramOfBursts = "LoadResizeSave-bursts";

    /// <summary>The container that limits nothing, in MiB: what others are compared with.</summary>
    public const int ReferenceMegabytes = 4096;

    private const double Mebibyte = 1 << 20;
    private const double ClaimedSpeed = 0.85;
    private const int PreferredChartLimit = 350;

    private readonly IReadOnlyList<int> _limits;
    private readonly IReadOnlyList<int> _atOnce;
    private readonly IReadOnlyList<SurvivalCell> _cells;
    private readonly string _origin;
    private readonly string? _cut;
    private readonly double? _referenceSpeed;

    /// <summary>
    /// Prepares the report on <paramref name="cells"/>; <paramref name="origin"/> says where the photographs come from, and
    /// <paramref name="cut"/> why runs are missing, if any are.
    /// </summary>
    public SurvivalReport(
        IReadOnlyList<int> limits, IReadOnlyList<int> atOnce, IReadOnlyList<SurvivalCell> cells, string origin, string? cut = null)
    {
        _cut = cut;
        _limits = limits;
        _atOnce = atOnce;
        _cells = [.. cells.Where(cell => cell.Runs.Count > 0)];
        _origin = origin;
        _referenceSpeed = _cells.Where(IsReference).Max(cell => cell.DonePerSecond);
    }

    public ResultDocument Complete(ResultDocument document) => document with
    {
        Program = Name,
        Tables = [CreateClaims(), .. CreateBursts(), .. _limits.Select(CreateTable), CreateReference()],
        Notes = [.. Notes()],
        Pictures = ChartCells().Any() ? [new ResultPicture(ChartTitle(), Name + ".svg")] : [],
    };

    public string DrawChart() => new SurvivalChart(ChartTitle(), [.. ChartCells()]).Render();

    private static bool IsReference(SurvivalCell cell) => cell.LimitMegabytes == ReferenceMegabytes;

    private string Name => _cells.Any(cell => cell.Bursts > 1) ? ProgramOfBursts : Program;

    private int ChartLimit => _limits.Contains(PreferredChartLimit) ? PreferredChartLimit : _limits[0];

    private IEnumerable<SurvivalCell> ChartCells()
        => _cells.Where(cell => cell.LimitMegabytes == ChartLimit && cell.AtOnce == _atOnce.Max());

    private string ChartTitle() => Invariant($"{_atOnce.Max()} photographs at once in a container of {ChartLimit} MiB");

    private ResultTable CreateTable(int limit) => new()
    {
        Title = Invariant($"In {limit} MiB"),
        Labels = ["at once", "memory", "outcome"],
        Columns =
        [
            new("runs", null, "N0"), new("jobs", "a run", "N0"), new("done", "a run", "0.0"), new("refused", "a run", "0.0"),
            new("failed", "a run", "0.0"), new("done", "a second", "0.0"), new("speed to 4 GiB", "×", "0.00"),
            new("peak of cgroup", "MiB", "0"), new("slowest job", "seconds", "0.0"),
        ],
        Rows = [.. _cells.Where(cell => !IsReference(cell) && cell.LimitMegabytes == limit).Select(CreateRow)],
    };

    private ResultTable CreateReference() => CreateTable(0) with
    {
        Title = "The same load in 4 GiB, this library by default",
        Rows = [.. _cells.Where(IsReference).Select(CreateRow)],
    };

    private ResultRow CreateRow(SurvivalCell cell) => new(
        [Invariant($"{cell.AtOnce}"), cell.Way.Title, cell.Outcome],
        [
            cell.Runs.Count, cell.Jobs, cell.DonePerRun, cell.RefusedPerRun, cell.FailedPerRun,
            cell.DonePerSecond, cell.DonePerSecond / _referenceSpeed, cell.PeakBytes / Mebibyte, cell.SlowestJob,
        ]);

    // A row for all numbers of jobs at once: how many suit a container is the user's to find, and what must hold is what holds for each.
    private ResultTable CreateClaims() => new()
    {
        Title = "What is claimed",
        Labels = ["MiB", "memory", "claim for each number at once", "reached"],
        Columns =
        [
            new("survived", "runs", "N0"), new("runs", null, "N0"), new("jobs done, least", "%", "0.0"),
            new("jobs done, most", "%", "0.0"), new("speed to 4 GiB, best", "×", "0.00"),
        ],
        Rows =
        [
            .. from cell in _cells
               where _limits.Contains(cell.LimitMegabytes) && cell.Way.IsOfLibrary
               group cell by (cell.LimitMegabytes, cell.Way) into cells
               orderby cells.Key.LimitMegabytes
               select CreateClaim(cells.Key.Way, [.. cells]),
        ],
    };

    private ResultRow CreateClaim(ComparedWay way, IReadOnlyList<SurvivalCell> cells)
    {
        double? speed = cells.Max(cell => cell.DonePerSecond) / _referenceSpeed;
        return new ResultRow(
            [Invariant($"{cells[0].LimitMegabytes}"), way.Title, Describe(way.Claim!), Reached(cells, speed)],
            [
                cells.Sum(cell => cell.Finished), cells.Sum(cell => cell.Runs.Count),
                cells.Min(DoneShare), cells.Max(DoneShare), speed,
            ]);
    }

    // Beside reservations of the right size, with the same budget or none.
    private IEnumerable<ResultTable> CreateBursts()
    {
        List<SurvivalCell> cells = [.. _cells.Where(cell => cell.Bursts > 1 && cell.Way.Reserves != JobReservation.None)];
        return cells.Count == 0 ? [] :
        [
            new ResultTable
            {
                Title = "First and later bursts of a fresh process",
                Labels = ["MiB", "at once", "memory", "outcome"],
                Columns =
                [
                    new("runs", null, "N0"), new("first burst done, least of a run", "%", "0.0"),
                    new("later bursts done, least of a run", "%", "0.0"), new("time", "seconds", "0.0"),
                    new("time to a reservation a job", "×", "0.00"),
                ],
                Rows = [.. cells.Select(cell => CreateBurst(cell, cells.Find(other => IsBeside(cell, other))))],
            },
        ];

        static bool IsBeside(SurvivalCell cell, SurvivalCell other)
            => other.Way.Reserves == JobReservation.Estimated
                && (other.LimitMegabytes, other.AtOnce, other.Way.BudgetMegabytes)
                    == (cell.LimitMegabytes, cell.AtOnce, cell.Way.BudgetMegabytes);
    }

    private static ResultRow CreateBurst(SurvivalCell cell, SurvivalCell? beside) => new(
        [Invariant($"{cell.LimitMegabytes}"), Invariant($"{cell.AtOnce}"), cell.Way.Title, cell.Outcome],
        [
            cell.Runs.Count, 100 * cell.LeastDoneShare(isFirst: true), 100 * cell.LeastDoneShare(isFirst: false), cell.Seconds,
            cell.Seconds / beside?.Seconds,
        ]);

    private static double? DoneShare(SurvivalCell cell) => 100 * cell.DonePerRun / cell.Jobs;

    private static string Describe(SurvivalClaim claim)
        => Invariant($"{100 * claim.SurvivingShare:0} % survive{(claim.MayFail ? "" : "; every job done")}; best speed {ClaimedSpeed}");

    private static string Reached(IReadOnlyList<SurvivalCell> cells, double? speed)
        => (cells.All(cell => cell.KeepsClaim == true), speed >= ClaimedSpeed) switch
        {
            (true, true) => "yes",
            (true, false) => "not the speed",
            (_, true) => "only the speed",
            _ => "no",
        };

    private IEnumerable<string> Notes() =>
    [
        $"{_origin}. A job reads one, decodes it, makes it a quarter as wide and as high, and encodes it as JPEG.",
        "The file and both pictures are memory of the way in question; Skia's own memory, mipmaps above all, a third of the picture, is "
            + "malloc's.",
        "Each run is a process in a memory cgroup of its own, without swap and without any environment variable that concerns memory.",
        "But for *by default*, malloc maps from 1 MiB on in each way (NativeHeap.TrySetMapThreshold), because the decoder is the same.",
        "Jobs at once are threads. A job that is refused is not tried again.",
        "Killed: by the kernel, for memory. Crashed: the process ended in any other way, of an exception for want of memory for instance. "
            + "Hung: it was ended after two minutes.",
        "Refused: MemoryLimitExceededException. Failed: anything else, an OutOfMemoryException of the collector for instance, whose "
            + "heap may take three quarters of the limit.",
        "Speed: jobs done a second, the median of the runs that came to their end; where jobs are refused, of fewer jobs.",
        Invariant($"The best in 4 GiB is {_referenceSpeed:0.0} a second."),
        Invariant($"A budget without a number is {string.Join(", ", _limits.Select(DescribeBudget))} MiB: seven eighths of the limit, ")
            + "less 64 MiB.",
        "MinimumFreeMegabytes is an eighth of the limit, also for a reservation a job; without a number it is a fifth, at least 32 MiB. "
            + "Calls wait for up to 2 s with a budget or MinimumFreeMegabytes alone, learned jobs for up to 30 s, and a reservation a job "
            + "as long as it takes.",
        "The peak of a cgroup is the kernel's own high-water mark, cached files included; it may reach the limit without harm, since the "
            + "kernel drops those first.",
        .. _cut is null ? (string[])[] : [_cut],
    ];

    private static string DescribeBudget(int limit) => Invariant($"{MemoryWay.Budget(limit)} in {limit}");
}

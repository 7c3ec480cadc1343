namespace Measurements.Reach;

/// <summary>Measures what the project set out to reach, as ratios within one run, and says how far it came.</summary>
internal static class ReachCommand
{
    private const int Looks = 3;
    private const string Short = "Bounds and what was reached: of each kind the figure that is furthest from its bound";
    private const string All = "All figures: ratios of one run, each side in turn, the best rounds of both";

    private static readonly Option<bool> s_check =
        new("--check") { Description = "Fail where a figure is so far from its limit that it cannot be noise." };

    private static readonly Option<FileInfo?> s_before =
        new("--before") { Description = "A result file of an earlier library: its figures stand beside the new ones." };

    private static readonly Option<string[]> s_only = new("--only")
    {
        Description = "Parts, with spaces between them.",
        AllowMultipleArgumentsPerToken = true,
    };

    public static Command Create()
    {
        s_only.AcceptOnlyFromAmong(
            "one", "arrays", "four", "threads", "budget", "contiguous", "groups", "aligned", "creation", "touch", "rows", "copies");
        return new Command("reach", "Measures each figure that the project set out to reach, against what it is compared with.")
        {
            s_check, s_before, s_only,
        }.Measures("Reach", Measure);
    }

    private static ResultDocument Measure(MeasurementRun run)
    {
        ResultDocument document = run.NewDocument("What was to be reached, and what was");
        Effort effort = run.IsQuick ? Effort.Brief : Effort.Full;
        bool hasHugePages = document.Machine.HugePages is "always" or "madvise";
        bool isChecked = run.Get(s_check);
        (string Part, Func<IEnumerable<Figure>> Measure)[] measurements =
        [
            ("one", () => BlockFigures.OfOneThread(effort)),
            ("arrays", () => SizeFigures.OfArrays(effort)),
            ("four", () => BlockFigures.OfFour(effort)),
            ("threads", () => BlockFigures.OfSeveralThreads(effort)),
            ("budget", () => BlockFigures.OfBudget(effort)),
            ("contiguous", () => SizeFigures.OfContiguousImages(effort)),
            ("groups", () => SizeFigures.OfGroups(effort)),
            ("aligned", () => SizeFigures.OfSmallAligned(effort)),
            ("creation", () => SizeFigures.OfCreation(effort)),
            ("touch", () => SizeFigures.OfFirstTouch(effort, hasHugePages)),
            ("rows", () => RowFigures.Measure(effort)),
            ("copies", () => RowFigures.OfAllPixels(effort)),
        ];
        IReadOnlyList<Figure>[] kinds =
        [
            .. measurements.Where(measurement => run.Get(s_only) is not { Length: > 0 } parts || parts.Contains(measurement.Part))
                .Select(measurement => isChecked ? MeasureForCheck(measurement.Measure) : [.. measurement.Measure()]),
        ];
        Figure[] figures = [.. kinds.SelectMany(kind => kind)];
        foreach (Figure figure in figures.Where(figure => isChecked && figure.IsRegression))
        {
            run.Failures.Add($"regression: {figure.What}");
        }

        return document with
        {
            Tables =
            [
                Table(Short, [.. kinds.Select(kind => kind.MaxBy(figure => figure.Distance)!)], []),
                Table(All, figures, Before(run)),
            ],
        };
    }

    // What a neighbour did to the machine is gone at the second or third look; what the library does to itself is not.
    private static IReadOnlyList<Figure> MeasureForCheck(Func<IEnumerable<Figure>> measure)
    {
        for (int look = 1; ; look++)
        {
            Figure[] figures = [.. measure()];
            foreach (Figure figure in figures.Where(figure => figure.IsRegression))
            {
                Console.WriteLine(
                    $"look {look} of {Looks}: regression: {figure.What}: {figure.Measured:0.##}, wanted {figure.Wanted}, "
                        + $"margin {figure.Margin}");
            }

            if (look == Looks || !figures.Any(figure => figure.IsRegression))
            {
                return figures;
            }
        }
    }

    // What the same program measured with an earlier library, on the same machine, by what was measured.
    private static Dictionary<string, double?> Before(MeasurementRun run) => run.Get(s_before) is { } file
        ? ResultFile.Read(file.FullName).Tables.First(table => table.Title != Short)
            .Rows.ToDictionary(row => row.Labels[0], row => row.Values[^1])
        : [];

    private static ResultTable Table(string title, IReadOnlyList<Figure> figures, Dictionary<string, double?> before) => new()
    {
        Title = title,
        Labels = ["what", "against, or unit", "bound", "verdict"],
        Columns = [.. before.Count > 0 ? [new ResultColumn("before", null, "0.##")] : (ResultColumn[])[], new("now", null, "0.##")],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.What, figure.Against, figure.Wanted, figure.Verdict],
                [.. before.Count > 0 ? [before.GetValueOrDefault(figure.What)] : (double?[])[], figure.Measured])),
        ],
    };
}

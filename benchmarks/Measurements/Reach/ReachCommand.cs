namespace Measurements.Reach;

/// <summary>Measures what the project set out to reach, as ratios within one run, and says how far it came.</summary>
internal static class ReachCommand
{
    private const int Looks = 3;

    private static readonly Option<bool> s_check =
        new("--check") { Description = "Fail where a figure is so far from its limit that it cannot be noise." };

    public static Command Create()
        => new Command("reach", "Measures each figure that the project set out to reach, against what it is compared with.")
    {
        s_check,
    }.Measures("Reach", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        ResultDocument document = run.NewDocument("What was to be reached, and what was");
        Effort effort = run.IsQuick ? Effort.Brief : Effort.Full;
        bool hasHugePages = document.Machine.HugePages is "always" or "madvise";
        bool isChecked = run.Get(s_check);
        Func<IEnumerable<Figure>>[] measurements =
        [
            () => BlockFigures.OfOneThread(effort),
            () => BlockFigures.OfSeveralThreads(effort),
            () => BlockFigures.OfLeases(effort),
            () => SizeFigures.OfArrays(effort),
            () => SizeFigures.OfGroups(effort),
            () => RowFigures.Measure(effort),
            () => SizeFigures.OfContiguousImages(effort),
            () => SizeFigures.OfFirstTouch(effort, hasHugePages),
        ];
        IReadOnlyList<Figure> figures = [.. measurements.SelectMany(measure => isChecked ? MeasureForCheck(measure) : [.. measure()])];
        foreach (Figure figure in figures.Where(figure => isChecked && figure.IsRegression))
        {
            run.Failures.Add($"regression: {figure.What}");
        }

        return document with { Tables = [Table(figures), RentSteps.Measure(effort)] };
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

    private static ResultTable Table(IReadOnlyList<Figure> figures) => new()
    {
        Title = "Medians over rounds in which all that is compared runs in turn",
        Labels = ["what", "against, or unit", "wanted", "verdict"],
        Columns = [new ResultColumn("measured", null, "0.##")],
        Rows =
        [
            .. figures.Select(figure => new ResultRow([figure.What, figure.Against, figure.Wanted, figure.Verdict], [figure.Measured])),
        ],
    };
}

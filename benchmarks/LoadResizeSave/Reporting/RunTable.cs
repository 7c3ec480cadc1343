namespace LoadResizeSave.Reporting;

/// <summary>The table of results, one line for each allocator, the best figure of each column in green.</summary>
internal static class RunTable
{
    private static readonly RunFigure[] s_figures =
    [
        RunFigure.Photographs, RunFigure.Megapixels, RunFigure.Cpu, RunFigure.System,
        RunFigure.PeakResident, RunFigure.FinalResident, RunFigure.PageFaults, RunFigure.Managed,
    ];

    public static Table Create(IReadOnlyList<MeasuredRun> runs)
    {
        Table table = new Table().Border(TableBorder.Rounded).AddColumn("allocator");
        List<List<string>> columns = [.. s_figures.Select(figure => Column(table, figure, runs))];
        _ = table.AddColumn(new TableColumn("GCs of\nGen0/1/2").RightAligned());
        for (int i = 0; i < runs.Count; i++)
        {
            ProcessCounters cost = runs[i].Cost;
            _ = table.AddRow([
                JobText.Name(runs[i].Allocator),
                .. columns.Select(column => column[i]),
                string.Create(CultureInfo.InvariantCulture, $"{cost.Gen0}/{cost.Gen1}/{cost.Gen2}"),
            ]);
        }

        return table;
    }

    private static List<string> Column(Table table, RunFigure figure, IReadOnlyList<MeasuredRun> runs)
    {
        _ = table.AddColumn(new TableColumn(figure.Unit is null ? figure.Name : $"{figure.Name}\n{figure.Unit}").RightAligned());
        List<double?> values = [.. runs.Select(figure.Read)];
        double? best = figure.LargestIsBest ? values.Max() : values.Min();
        return
        [
            .. values.Select(value => value switch
            {
                null => "-",
                _ when value == best && runs.Count > 1 => $"[green]{value.Value.ToString(figure.Format, CultureInfo.InvariantCulture)}[/]",
                _ => value.Value.ToString(figure.Format, CultureInfo.InvariantCulture),
            }),
        ];
    }
}

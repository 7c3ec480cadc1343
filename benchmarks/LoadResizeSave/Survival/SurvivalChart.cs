namespace LoadResizeSave.Survival;

/// <summary>
/// Memory over time against the container's limit: a panel for each way of having memory, the same axes in all. A run that was killed ends
/// in a cross at the limit.
/// </summary>
internal sealed class SurvivalChart
{
    private const int PanelWidth = 218;
    private const int PanelHeight = 150;
    private const int GapAcross = 16;
    private const int GapDown = 108;
    private const int Left = 64;
    private const int Top = 130;
    private const int Bottom = 56;
    private const int Columns = 4;
    private const int MostRuns = 5;
    private const double Mebibyte = 1 << 20;

    // The last looks at a process that is killed come up to ten milliseconds before the kill, and a job may end in the meantime.
    private const double Headroom = 1.15;

    private const string LimitColour = "#333";
    private const string MarkColour = "#666";
    private const string GridColour = "#e8e8e8";
    private const string KilledColour = "#c92a2a";
    private const string KilledFill = "#ffe3e3";
    private const string LosingColour = "#b45f06";
    private const string LosingFill = "#fdebd3";
    private const string SurvivorColour = "#0072b2";
    private const string SurvivorFill = "#d7ebf7";

    private readonly string _title;
    private readonly string _others;
    private readonly IReadOnlyList<SurvivalCell> _cells;
    private readonly double _seconds;
    private readonly int _limit;

    /// <summary>Prepares the chart of <paramref name="cells"/>, all of one limit and with as many jobs at once.</summary>
    public SurvivalChart(string title, IReadOnlyList<SurvivalCell> cells, string others = "others, and a pool that knows no limit")
    {
        _title = title;
        _others = others;
        _cells = cells;
        _limit = cells[0].LimitMegabytes;
        _seconds = Math.Max(
            1, cells.Max(cell => cell.Runs.Max(run => run.Samples.Select(sample => sample.Seconds).DefaultIfEmpty().Max())));
    }

    public string Render()
    {
        // What the library is compared with has a row of its own, and so has the library.
        List<List<SurvivalCell>> rows = [
            .. _cells.GroupBy(cell => cell.Way.IsOfLibrary).SelectMany(group => group.Chunk(Columns)).Select(row => row.ToList())];
        double width = Left + (Columns * (PanelWidth + GapAcross));
        double height = Top + (rows.Count * PanelHeight) + ((rows.Count - 1) * GapDown) + Bottom;
        XElement svg = SvgElements.Picture(width, height, _title);
        svg.Add(SvgElements.Text(Left, 28, _title, weight: "bold"));
        AddLegend(svg);
        for (int i = 0; i < rows.Count; i++)
        {
            double top = Top + (i * (PanelHeight + GapDown));
            ChartAxis vertical = new(LinearScale.FromZero(_limit * Headroom, ticks: 4, roundUp: false), top + PanelHeight, top);
            AddVerticalAxis(svg, vertical, top);
            string heading = rows[i][0].Way.IsOfLibrary ? "this library" : _others;
            svg.Add(SvgElements.Text(Left, top - 46, heading, fill: MarkColour));
            for (int j = 0; j < rows[i].Count; j++)
            {
                AddPanel(svg, rows[i][j], Left + (j * (PanelWidth + GapAcross)), top, vertical);
            }
        }

        return SvgElements.ToText(svg);
    }

    private void AddLegend(XElement svg)
    {
        const double Line = 51;
        svg.Add(SvgElements.Line(Left, Line - 4, Left + 24, Line - 4, LimitColour, "6 4"));
        svg.Add(SvgElements.Text(Left + 30, Line, Invariant($"the limit, {_limit} MiB")));
        AddCross(svg, Left + 188, Line - 4);
        svg.Add(SvgElements.Text(Left + 200, Line, "killed for memory, or ended in another way"));
        string runs = Invariant($"each line: memory charged in one run, up to {MostRuns} of them");
        svg.Add(SvgElements.Text(Left + 510, Line, runs));
    }

    private static void AddVerticalAxis(XElement svg, ChartAxis vertical, double top)
    {
        foreach (ChartTick tick in vertical.Scale.Ticks)
        {
            svg.Add(SvgElements.Text(Left - 8, vertical[tick.Value] + 4, tick.Label, "end"));
        }

        double middle = top + (PanelHeight / 2.0);
        svg.Add(SvgElements.Upright(SvgElements.Text(18, middle, "memory, MiB", "middle"), 18, middle));
    }

    private void AddPanel(XElement svg, SurvivalCell cell, double left, double top, ChartAxis vertical)
    {
        ChartAxis horizontal = new(LinearScale.FromZero(_seconds, ticks: 4, roundUp: false), left, left + PanelWidth);
        (string colour, string fill) = Colours(cell);
        svg.Add(SvgElements.Text(left, top - 24, cell.Way.Title, weight: "bold"));
        svg.Add(SvgElements.Text(left, top - 7, Describe(cell), fill: colour));
        foreach (ChartTick tick in vertical.Scale.Ticks)
        {
            svg.Add(SvgElements.Line(left, vertical[tick.Value], left + PanelWidth, vertical[tick.Value], GridColour));
        }

        AddRuns(svg, cell, horizontal, vertical, colour, fill);
        svg.Add(SvgElements.Line(left, vertical[_limit], left + PanelWidth, vertical[_limit], LimitColour, "6 4"));
        foreach (ContainedRun run in Shown(cell).Where(run => run.Ending != RunEnding.Finished && run.Samples.Count > 0))
        {
            // A kill comes at the limit, between two looks; whatever else ended a process came below it.
            double reached = run.Ending == RunEnding.Killed ? _limit : run.Samples.Max(sample => sample.UsedBytes) / Mebibyte;
            AddCross(svg, horizontal[Math.Max(0, LastCharged(run))], vertical[reached]);
        }

        svg.Add(SvgElements.Line(left, vertical[0], left + PanelWidth, vertical[0], MarkColour));
        foreach (ChartTick tick in horizontal.Scale.Ticks)
        {
            svg.Add(SvgElements.Line(horizontal[tick.Value], vertical[0], horizontal[tick.Value], vertical[0] + 4, MarkColour));
            svg.Add(SvgElements.Text(horizontal[tick.Value], vertical[0] + 18, tick.Label, "middle"));
        }

        svg.Add(SvgElements.Text(left + (PanelWidth / 2.0), vertical[0] + 36, "seconds", "middle"));
    }

    private static void AddRuns(XElement svg, SurvivalCell cell, ChartAxis horizontal, ChartAxis vertical, string colour, string fill)
    {
        double bottom = vertical[0];
        foreach ((ContainedRun run, int i) in Shown(cell).Select((run, i) => (run, i)))
        {
            ChartCurve curve = new();
            foreach (CgroupSample sample in run.Samples.Where(sample => sample.Seconds >= 0 && sample.Seconds <= LastCharged(run)))
            {
                curve.Add(horizontal[sample.Seconds], vertical[sample.UsedBytes / Mebibyte]);
            }

            if (curve.IsEmpty)
            {
                continue;
            }

            if (i == 0)
            {
                svg.Add(SvgElements.Path(curve.ToArea(bottom), "none", 0, fill));
            }

            svg.Add(SvgElements.Path(curve.ToLine(), colour, i == 0 ? 1.5 : 0.6));
        }
    }

    private static IEnumerable<ContainedRun> Shown(SurvivalCell cell)
        => cell.Runs.OrderByDescending(run => run.Ending != RunEnding.Finished).Take(MostRuns);

    // What was charged to a process that has ended is gone within the next look or two.
    private static double LastCharged(ContainedRun run)
    {
        long most = run.Samples.Max(sample => sample.UsedBytes);
        return run.Samples.Last(sample => sample.UsedBytes >= most / 8).Seconds;
    }

    // Killed, alive without having done all jobs, alive with all of them.
    private static (string Colour, string Fill) Colours(SurvivalCell cell)
        => cell.Finished < cell.Runs.Count ? (KilledColour, KilledFill)
            : cell.DonePerRun < cell.Jobs ? (LosingColour, LosingFill)
            : (SurvivorColour, SurvivorFill);

    private static string Describe(SurvivalCell cell)
    {
        int runs = cell.Runs.Count;
        string ends = cell.Finished == runs ? $"survives {runs} of {runs}" : $"dies {runs - cell.Finished} of {runs}";
        return Invariant($"{ends}, {cell.DonePerRun:0} of {cell.Jobs} done");
    }

    private static void AddCross(XElement svg, double x, double y)
    {
        string strokes = Invariant($"M{x - 5:0.#} {y - 5:0.#}l10 10M{x - 5:0.#} {y + 5:0.#}l10 -10");
        svg.Add(SvgElements.Path(strokes, KilledColour, 2.4));
    }
}

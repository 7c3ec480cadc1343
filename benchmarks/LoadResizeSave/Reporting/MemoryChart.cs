namespace LoadResizeSave.Reporting;

/// <summary>
/// Committed and resident memory over time, one panel for each allocator and the same axes in all, so that heights compare across.
/// </summary>
internal sealed class MemoryChart
{
    private const int PanelWidth = 300;
    private const int PanelHeight = 260;
    private const int Gap = 28;
    private const int Left = 72;
    private const int Top = 124;
    private const int Bottom = 56;

    private const string ResidentColour = "#3b7dd8";
    private const string ResidentFill = "#d6e6fa";
    private const string CommittedColour = "#d9480f";
    private const string MarkColour = "#666";
    private const string GridColour = "#e4e4e4";

    private readonly IReadOnlyList<MeasuredRun> _runs;
    private readonly double _seconds;
    private readonly ChartAxis _vertical;

    public MemoryChart(IReadOnlyList<MeasuredRun> runs)
    {
        _runs = runs;
        _seconds = runs.Max(run => run.Samples[^1].Seconds);
        double megabytes = runs.Max(run => run.Samples.Max(sample => Math.Max(sample.ResidentBytes, sample.CommittedBytes))) / 1e6;
        _vertical = new ChartAxis(LinearScale.FromZero(megabytes, ticks: 6, roundUp: true), Top + PanelHeight, Top);
    }

    public string Render()
    {
        int width = Left + (_runs.Count * (PanelWidth + Gap));
        XElement svg = SvgElements.Picture(width, Top + PanelHeight + Bottom, "Memory over time while pictures are loaded, resized and "
            + "saved");
        svg.Add(SvgElements.Text(Left, 28, "Memory while the same pictures are loaded, resized and saved", weight: "bold"));
        AddLegend(svg);
        AddVerticalAxis(svg);
        for (int i = 0; i < _runs.Count; i++)
        {
            AddPanel(svg, _runs[i], Left + (i * (PanelWidth + Gap)));
        }

        return SvgElements.ToText(svg);
    }

    private static void AddLegend(XElement svg)
    {
        svg.Add(SvgElements.Rectangle(Left, 41, 22, 11, ResidentFill));
        svg.Add(SvgElements.Line(Left, 41, Left + 22, 41, ResidentColour));
        svg.Add(SvgElements.Text(Left + 28, 51, "resident (whole process)"));
        svg.Add(SvgElements.Path($"M{Left + 210} 47L{Left + 232} 47", CommittedColour, 1.6));
        svg.Add(SvgElements.Text(Left + 238, 51, "committed (what the allocator holds; for arrays the GC heap)"));
    }

    private void AddVerticalAxis(XElement svg)
    {
        foreach (ChartTick tick in _vertical.Scale.Ticks)
        {
            svg.Add(SvgElements.Text(Left - 8, _vertical[tick.Value] + 4, tick.Label, "end"));
        }

        const double Middle = Top + (PanelHeight / 2.0);
        svg.Add(SvgElements.Upright(SvgElements.Text(18, Middle, "memory, MB", "middle"), 18, Middle));
    }

    private void AddPanel(XElement svg, MeasuredRun run, double left)
    {
        ChartAxis horizontal = new(LinearScale.FromZero(_seconds, ticks: 5, roundUp: false), left, left + PanelWidth);
        double bottom = _vertical[0];
        svg.Add(SvgElements.Text(left, Top - 46, run.Allocator.Name(), weight: "bold"));
        svg.Add(SvgElements.Text(left, Top - 28, Invariant(
            $"resident: peak {run.PeakResidentBytes / 1e6:0} MB, at the end {run.FinalResidentBytes / 1e6:0} MB")));
        foreach (ChartTick tick in _vertical.Scale.Ticks)
        {
            svg.Add(SvgElements.Line(left, _vertical[tick.Value], left + PanelWidth, _vertical[tick.Value], GridColour));
        }

        AddCurves(svg, run, horizontal);
        AddMark(svg, horizontal[run.WallSeconds], "work ends");
        AddMark(svg, horizontal[run.ReleasedAt], "released");
        svg.Add(SvgElements.Line(left, bottom, left + PanelWidth, bottom, MarkColour));
        foreach (ChartTick tick in horizontal.Scale.Ticks)
        {
            svg.Add(SvgElements.Line(horizontal[tick.Value], bottom, horizontal[tick.Value], bottom + 4, MarkColour));
            svg.Add(SvgElements.Text(horizontal[tick.Value], bottom + 18, tick.Label, "middle"));
        }

        svg.Add(SvgElements.Text(left + (PanelWidth / 2.0), bottom + 40, "time, seconds", "middle"));
    }

    private void AddCurves(XElement svg, MeasuredRun run, ChartAxis horizontal)
    {
        ChartCurve resident = new();
        ChartCurve committed = new();
        foreach (MemorySample sample in run.Samples)
        {
            resident.Add(horizontal[sample.Seconds], _vertical[sample.ResidentBytes / 1e6]);
            committed.Add(horizontal[sample.Seconds], _vertical[sample.CommittedBytes / 1e6]);
        }

        svg.Add(SvgElements.Path(resident.ToArea(_vertical[0]), "none", 0, ResidentFill));
        svg.Add(SvgElements.Path(resident.ToLine(), ResidentColour, 1.2));
        svg.Add(SvgElements.Path(committed.ToLine(), CommittedColour, 1.2));
    }

    private static void AddMark(XElement svg, double x, string text)
    {
        svg.Add(SvgElements.Line(x, Top - 4, x, Top + PanelHeight, MarkColour, "4 3"));
        svg.Add(SvgElements.Text(x, Top - 7, text, "end", MarkColour));
    }
}

namespace LoadResizeSave.Reporting;

/// <summary>One of the figures that runs are compared by.</summary>
/// <param name="Read">Takes it from a run; null where the system does not tell it.</param>
internal sealed record RunFigure(string Name, string? Unit, string Format, Func<MeasuredRun, double?> Read, bool LargestIsBest = false)
{
    public static RunFigure Wall { get; } = new("wall", "seconds", "0.00", run => run.WallSeconds);

    public static RunFigure Cpu { get; } = new("CPU", "seconds", "0.00", run => (run.Cost.UserTime + run.Cost.SystemTime).TotalSeconds);

    public static RunFigure PeakResident { get; } = new("peak RSS", "MB", "0", run => run.PeakResidentBytes / 1e6);

    public static RunFigure Photographs { get; } =
        new("photographs", "per second", "0.0", run => run.Pictures / run.WallSeconds, LargestIsBest: true);

    public static RunFigure Megapixels { get; } =
        new("megapixels", "per second", "0", run => run.Megapixels / run.WallSeconds, LargestIsBest: true);

    public static RunFigure User { get; } = new("user", "CPU seconds", "0.00", run => run.Cost.UserTime.TotalSeconds);

    public static RunFigure System { get; } = new("system", "CPU seconds", "0.00", run => run.Cost.SystemTime.TotalSeconds);

    public static RunFigure FinalResident { get; } = new("final RSS", "MB", "0", run => run.FinalResidentBytes / 1e6);

    public static RunFigure PageFaults { get; } = new("page faults", null, "N0", run => run.Cost.MinorFaults + run.Cost.MajorFaults);

    public static RunFigure Managed { get; } = new("GC", "MB", "N1", run => run.Cost.ManagedBytes / 1e6);

    /// <summary>Returns the figure of <paramref name="run"/> as markup, green where it is the best of several.</summary>
    public string Describe(MeasuredRun run, IReadOnlyList<MeasuredRun> runs)
    {
        double? best = LargestIsBest ? runs.Max(Read) : runs.Min(Read);
        string? text = Read(run)?.ToString(Format, CultureInfo.InvariantCulture);
        return text is null ? "-" : Read(run) == best && runs.Count > 1 ? $"[green]{text}[/]" : text;
    }
}

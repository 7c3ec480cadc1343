namespace LoadResizeSave.Reporting;

/// <summary>One of the figures that runs are compared by.</summary>
/// <param name="Read">Takes it from a run; null where the system does not tell it.</param>
internal sealed record RunFigure(string Name, string? Unit, string Format, Func<MeasuredRun, double?> Read)
{
    public static RunFigure Wall { get; } = new("wall", "seconds", "0.00", run => run.WallSeconds);

    public static RunFigure Cpu { get; } = new("CPU", "seconds", "0.00", run => (run.Cost.UserTime + run.Cost.SystemTime).TotalSeconds);

    public static RunFigure PeakResident { get; } = new("peak RSS", "MB", "0", run => run.PeakResidentBytes / 1e6);

    public static RunFigure Photographs { get; } =
        new("photographs", "per second", "0.0", run => run.Pictures / run.WallSeconds);

    public static RunFigure Megapixels { get; } =
        new("megapixels", "per second", "0", run => run.Megapixels / run.WallSeconds);

    public static RunFigure User { get; } = new("user", "CPU seconds", "0.00", run => run.Cost.UserTime.TotalSeconds);

    public static RunFigure System { get; } = new("system", "CPU seconds", "0.00", run => run.Cost.SystemTime.TotalSeconds);

    public static RunFigure FinalResident { get; } = new("final RSS", "MB", "0", run => run.FinalResidentBytes / 1e6);

    public static RunFigure PageFaults { get; } = new("page faults", null, "N0", run => run.Cost.MinorFaults + run.Cost.MajorFaults);

    public static RunFigure Managed { get; } = new("GC", "MB", "N1", run => run.Cost.ManagedBytes / 1e6);

    public static RunFigure Collections { get; } = new("GCs", "of gen 2", "0", run => run.Cost.Gen2);
}

using System;
using LoadResizeSave.Running;

namespace LoadResizeSave.Reporting;

/// <summary>One of the figures that runs are compared by.</summary>
/// <param name="Name">What it is.</param>
/// <param name="Unit">The unit; null for counts.</param>
/// <param name="Format">The .NET format of the number.</param>
/// <param name="Read">Takes it from a run; null where the system does not tell it.</param>
/// <param name="LargestIsBest">Whether more is better.</param>
internal sealed record RunFigure(string Name, string? Unit, string Format, Func<MeasuredRun, double?> Read, bool LargestIsBest = false)
{
    /// <summary>Gets the time from the first picture to the last.</summary>
    public static RunFigure Wall { get; } = new("wall", "seconds", "0.00", run => run.WallSeconds);

    /// <summary>Gets the processor time.</summary>
    public static RunFigure Cpu { get; } = new("CPU", "seconds", "0.00", run => (run.Cost.UserTime + run.Cost.SystemTime).TotalSeconds);

    /// <summary>Gets the largest resident memory.</summary>
    public static RunFigure PeakResident { get; } = new("peak RSS", "MB", "0", run => run.PeakResidentBytes / 1e6);

    /// <summary>Gets the speed in pictures.</summary>
    public static RunFigure Photographs { get; } = new("photographs", "per second", "0.0", run => run.Pictures / run.WallSeconds, LargestIsBest: true);

    /// <summary>Gets the speed in decoded pixels.</summary>
    public static RunFigure Megapixels { get; } = new("megapixels", "per second", "0", run => run.Megapixels / run.WallSeconds, LargestIsBest: true);

    /// <summary>Gets the processor time in the program's own code.</summary>
    public static RunFigure User { get; } = new("user", "CPU seconds", "0.00", run => run.Cost.UserTime.TotalSeconds);

    /// <summary>Gets the processor time in the operating system.</summary>
    public static RunFigure System { get; } = new("system", "CPU seconds", "0.00", run => run.Cost.SystemTime.TotalSeconds);

    /// <summary>Gets what is still resident at the end.</summary>
    public static RunFigure FinalResident { get; } = new("final RSS", "MB", "0", run => run.FinalResidentBytes / 1e6);

    /// <summary>Gets the number of page faults.</summary>
    public static RunFigure PageFaults { get; } = new("page faults", null, "N0", run => run.Cost.MinorFaults + run.Cost.MajorFaults);

    /// <summary>Gets what was allocated on the managed heap.</summary>
    public static RunFigure Managed { get; } = new("GC", "MB", "N1", run => run.Cost.ManagedBytes / 1e6);
}

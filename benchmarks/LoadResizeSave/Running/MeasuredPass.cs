namespace LoadResizeSave.Running;

/// <summary>One time through the folder.</summary>
/// <param name="WallSeconds">From the first picture to the last.</param>
/// <param name="Pictures">How many were saved.</param>
/// <param name="Cost">What that took.</param>
internal sealed record MeasuredPass(double WallSeconds, int Pictures, ProcessCounters Cost);

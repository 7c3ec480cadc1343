namespace LoadResizeSave.Running;

/// <summary>One time through the folder.</summary>
internal sealed record MeasuredPass(double WallSeconds, int Pictures, ProcessCounters Cost);

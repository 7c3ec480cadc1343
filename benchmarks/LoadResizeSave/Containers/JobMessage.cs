namespace LoadResizeSave.Containers;

/// <summary>What became of one job.</summary>
/// <param name="Seconds">From when it was asked for to its end, its wait for memory included.</param>
internal sealed record JobMessage(
    string Picture, JobKind Kind, JobEnd End, double Seconds, double WaitedSeconds, string? Sha256, string? Reason);

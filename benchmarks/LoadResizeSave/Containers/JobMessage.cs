namespace LoadResizeSave.Containers;

/// <summary>What became of one job.</summary>
/// <param name="Picture">The path of its picture.</param>
/// <param name="Kind">What was to be done.</param>
/// <param name="End">How it ended.</param>
/// <param name="Seconds">From when it was asked for to its end, its wait for memory included.</param>
/// <param name="WaitedSeconds">How much of that it waited to be admitted.</param>
/// <param name="Sha256">The hash of the file that was encoded.</param>
/// <param name="Reason">Why there is none.</param>
internal sealed record JobMessage(
    string Picture, JobKind Kind, JobEnd End, double Seconds, double WaitedSeconds, string? Sha256, string? Reason);

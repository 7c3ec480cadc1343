namespace LoadResizeSave.Running;

/// <summary>One run of every allocator, close together in time, so that what else the machine does falls on all of them.</summary>
/// <param name="Runs">The runs, in the order in which the user named the allocators.</param>
internal sealed record Round(int Number, IReadOnlyList<MeasuredRun> Runs);

namespace LoadResizeSave.Resizing;

/// <summary>The samples that one output is made of.</summary>
internal readonly record struct ResamplingRange(int Start, int Count);

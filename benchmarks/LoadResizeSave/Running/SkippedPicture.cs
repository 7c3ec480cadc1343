namespace LoadResizeSave.Running;

/// <summary>A file that was not decoded, and why.</summary>
internal sealed record SkippedPicture(string Name, string Reason);

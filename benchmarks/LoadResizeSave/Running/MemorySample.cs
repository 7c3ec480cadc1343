namespace LoadResizeSave.Running;

/// <summary>What a process held at one moment: seconds since the work began, and bytes.</summary>
internal readonly record struct MemorySample(double Seconds, long ResidentBytes, long CommittedBytes);

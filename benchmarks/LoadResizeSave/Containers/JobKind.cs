namespace LoadResizeSave.Containers;

/// <summary>What a job does with its picture.</summary>
internal enum JobKind
{
    Whole,

    /// <summary>The client goes away while the job waits for memory, or soon after; the job is cancelled.</summary>
    Cancelled,

    /// <summary>The job is forgotten after decoding: neither its memory nor its reservation is disposed.</summary>
    Abandoned,

    Truncated,

    /// <summary>The file comes slowly, and is held in memory while it comes; the job is admitted when all of it is there.</summary>
    SlowUpload,
}

namespace LoadResizeSave.Containers;

/// <summary>How a child in a container ended.</summary>
internal enum RunEnding
{
    /// <summary>It did all its jobs, whatever became of them.</summary>
    Finished,

    /// <summary>The kernel killed it because the limit was reached.</summary>
    Killed,

    /// <summary>It ended in any other way before its end.</summary>
    Crashed,

    /// <summary>It did not end, and was ended.</summary>
    Hung,
}

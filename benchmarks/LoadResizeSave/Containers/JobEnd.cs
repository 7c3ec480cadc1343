namespace LoadResizeSave.Containers;

/// <summary>How a job ended.</summary>
internal enum JobEnd
{
    /// <summary>The picture is there.</summary>
    Done,

    /// <summary>There was no memory for it at that time: worth trying again.</summary>
    Refused,

    /// <summary>There never is as much memory as it takes.</summary>
    RefusedForGood,

    /// <summary>Its client went away.</summary>
    Vanished,

    /// <summary>Its data were damaged, on purpose.</summary>
    Damaged,

    /// <summary>It failed in any other way.</summary>
    Failed,
}

namespace LoadResizeSave.Containers;

/// <summary>How a job ended.</summary>
internal enum JobEnd
{
    Done,

    Refused,

    RefusedForGood,

    Vanished,

    Damaged,

    Failed,
}

namespace LoadResizeSave.Containers;

/// <summary>How a child in a container ended.</summary>
internal enum RunEnding
{
    Finished,

    Killed,

    Crashed,

    Hung,
}

namespace LoadResizeSave.Containers;

/// <summary>One line of what a child in a container writes: a child that is killed has at least written what it did before.</summary>
internal sealed record ContainerMessage
{
    /// <summary>Gets a job that has ended.</summary>
    public JobMessage? Job { get; init; }

    /// <summary>Gets who holds the memory now, where that was asked for.</summary>
    public MemoryReading? Memory { get; init; }

    /// <summary>Gets what was found at the end.</summary>
    public RunMessage? Run { get; init; }

    /// <summary>Gets that the jobs begin now.</summary>
    public bool? Begins { get; init; }
}

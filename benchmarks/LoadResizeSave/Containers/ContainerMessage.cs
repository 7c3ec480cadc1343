namespace LoadResizeSave.Containers;

/// <summary>One line of what a child in a container writes: a child that is killed has at least written what it did before.</summary>
internal sealed record ContainerMessage
{
    public JobMessage? Job { get; init; }

    public MemoryReading? Memory { get; init; }

    public RunMessage? Run { get; init; }

    public bool? Begins { get; init; }
}

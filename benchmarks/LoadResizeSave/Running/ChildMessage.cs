namespace LoadResizeSave.Running;

/// <summary>One line of what a child tells its parent: how far it is, or at the end what it found.</summary>
internal sealed record ChildMessage
{
    public int? Done { get; init; }

    public int? Total { get; init; }

    public MeasuredRun? Result { get; init; }
}

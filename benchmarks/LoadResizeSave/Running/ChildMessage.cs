namespace LoadResizeSave.Running;

/// <summary>One line of what a child tells its parent: how far it is, or at the end what it found.</summary>
internal sealed record ChildMessage
{
    /// <summary>Gets how many pictures are done.</summary>
    public int? Done { get; init; }

    /// <summary>Gets how many there will be.</summary>
    public int? Total { get; init; }

    /// <summary>Gets the result.</summary>
    public MeasuredRun? Result { get; init; }
}

namespace Allocator.Analyzers.Graph;

/// <summary>
/// A call whose result is an owner; its <c>await</c>, if it is a task that promises one; or an <c>out</c> argument that is handed
/// one.
/// </summary>
internal readonly struct Site
{
    public Site(IOperation operation, bool isBuffer)
    {
        Operation = operation;
        IsBuffer = isBuffer;
    }

    public IOperation Operation { get; }

    /// <summary>Gets whether it owns memory. An allocator, which may be used after its disposal, only has to be disposed.</summary>
    public bool IsBuffer { get; }
}

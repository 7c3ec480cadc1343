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

    /// <summary>Gets whether it owns memory. An allocator does not: it only has to be disposed, and may be used afterwards.</summary>
    public bool IsBuffer { get; }
}

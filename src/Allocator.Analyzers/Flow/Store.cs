namespace Allocator.Analyzers.Flow;

/// <summary>A <c>Memory&lt;T&gt;</c> that outlives the body: in a field of <c>this</c>, a static, an <c>out</c> parameter.</summary>
internal readonly struct Store
{
    public Store(IOperation operation, ISymbol target, ulong sites)
    {
        Operation = operation;
        Target = target;
        Sites = sites;
    }

    public IOperation Operation { get; }

    public ISymbol Target { get; }

    public ulong Sites { get; }
}

namespace Allocator.Analyzers.Flow;

/// <summary>A mistake that shows when an operation is evaluated, whatever follows.</summary>
internal readonly struct Finding
{
    public Finding(DiagnosticDescriptor rule, IOperation operation, ulong sites)
    {
        Rule = rule;
        Operation = operation;
        Sites = sites;
    }

    public DiagnosticDescriptor Rule { get; }

    public IOperation Operation { get; }

    public ulong Sites { get; }
}

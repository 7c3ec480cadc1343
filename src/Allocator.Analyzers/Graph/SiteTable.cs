using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Graph;

/// <summary>The allocations of a body, each with its bit.</summary>
internal sealed class SiteTable
{
    /// <summary>The most allocations of a body: as many as a mask has bits. A body with more is not analysed.</summary>
    public const int Limit = 64;

    private readonly List<Site> _sites = new();

    public SiteTable(ControlFlowGraph graph, Factories factories, KnownTypes types)
    {
        HashSet<ISymbol> filled = FilledLate(graph, factories);
        foreach (BasicBlock block in graph.Blocks.Where(one => one.IsReachable))
        {
            foreach (IOperation statement in block.Statements())
            {
                foreach (IOperation operation in statement.DescendantsAndSelf())
                {
                    Add(operation, factories, types, filled);
                }
            }
        }
    }

    public int Count => _sites.Count;

    /// <summary>Gets the bits of those that own memory.</summary>
    public ulong Buffers { get; private set; }

    /// <summary>Gets the bits of objects that are made without a buffer, and get one from a method that is called on them.</summary>
    public ulong Late { get; private set; }

    public Site this[int index] => _sites[index];

    /// <summary>Returns the bit of <paramref name="operation"/>, or 0 if it is no allocation.</summary>
    public ulong BitOf(IOperation operation)
    {
        // There are few sites and each call asks, so comparing all costs less than hashing an operation.
        for (int i = 0; i < _sites.Count; i++)
        {
            if (_sites[i].Operation == operation)
            {
                return 1UL << i;
            }
        }

        return 0;
    }

    // Finds variables whose object gets its first buffer in this body, from a call of one of its own methods.
    private static HashSet<ISymbol> FilledLate(ControlFlowGraph graph, Factories factories)
    {
        HashSet<ISymbol> filled = new(SymbolEqualityComparer.Default);
        foreach (IOperation operation in graph.OriginalOperation.Descendants())
        {
            if (operation is IInvocationOperation { Instance: ILocalReferenceOperation { Local: var local } } call
                && !filled.Contains(local) && factories.Fills(call.TargetMethod))
            {
                filled.Add(local);
            }
        }

        return filled;
    }

    /// <summary>Returns the call that gives a tuple, past an <c>await</c>, or null.</summary>
    public static IInvocationOperation? TupleCall(IOperation value) =>
        value.Strip() is IAwaitOperation awaiting ? awaiting.AwaitedCall() : value.Strip() as IInvocationOperation;

    private static ILocalSymbol? VariableOf(IOperation creation)
    {
        IOperation? parent = creation.Parent;
        while (parent is IConversionOperation)
        {
            parent = parent.Parent;
        }

        return parent is ISimpleAssignmentOperation { Target: ILocalReferenceOperation { Local: var local } } ? local : null;
    }

    private void Add(IOperation operation, Factories factories, KnownTypes types, HashSet<ISymbol> filled)
    {
        switch (operation)
        {
            case IAwaitOperation { Type: { } type } awaiting when awaiting.AwaitedCall() is { } call
                && factories.Contains(call.TargetMethod) && types.ResultOfTask(call.TargetMethod.ReturnType) is not null:
                Add(operation, type, types);
                break;
            case IInvocationOperation { Type: { } type, TargetMethod.MethodKind: not MethodKind.Constructor } call
                when factories.IsRent(call)
                || (factories.Contains(call.TargetMethod) && !types.IsTask(call.TargetMethod.ReturnType)):
                Add(operation, type, types);
                break;
            case IObjectCreationOperation { Constructor: { } constructor, Type: { } type } when factories.Contains(constructor):
                Add(operation, type, types);
                break;
            case IObjectCreationOperation { Constructor: { } constructor, Type: { } type } when filled.Count > 0
                && VariableOf(operation) is { } late && filled.Contains(late) && factories.IsFilledLate(constructor):
                Late |= _sites.Count < Limit ? 1UL << _sites.Count : 0;
                Add(operation, type, types);
                break;
            case { Type: { } type } when operation.CalledOperator() is { } called && factories.Contains(called):
                Add(operation, type, types);
                break;
            case IDeconstructionAssignmentOperation { Value: var value } when TupleCall(value) is { } call
                && factories.ItemOf(call.TargetMethod) >= 0:
                Add(value.Strip(), call.Type!, types);
                break;
            case IArgumentOperation { Parameter: { } parameter } when factories.HandsOut(parameter):
                Add(operation, parameter.Type, types);
                break;
        }
    }

    private void Add(IOperation operation, ITypeSymbol type, KnownTypes types)
    {
        bool isBuffer = !types.IsAllocator(type) && !types.IsCallbacks(type);
        if (isBuffer && _sites.Count < Limit)
        {
            Buffers |= 1UL << _sites.Count;
        }

        _sites.Add(new Site(operation, isBuffer));
    }
}

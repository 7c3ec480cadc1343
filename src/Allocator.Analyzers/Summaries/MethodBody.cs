using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>The operations of one method, in no order: those that mention a variable, assign, return or await.</summary>
internal sealed class MethodBody
{
    private static readonly IReadOnlyList<IOperation> s_none = new List<IOperation>();

    private readonly Dictionary<ISymbol, List<IOperation>> _references = new(SymbolEqualityComparer.Default);
    private readonly Dictionary<ISymbol, List<IOperation?>> _assigned = new(SymbolEqualityComparer.Default);
    private readonly List<IReturnOperation> _returns = new();
    private readonly List<IAwaitOperation> _awaits = new();
    private readonly List<IOperation> _instances = new();

    public MethodBody(IOperation root)
    {
        Root = root;
        foreach (IOperation operation in root.DescendantsAndSelf())
        {
            Add(operation);
        }
    }

    public IOperation Root { get; }

    /// <summary>Gets the values that the method itself returns, not its lambdas and local functions.</summary>
    public IReadOnlyList<IReturnOperation> Returns => _returns;

    /// <summary>Gets whether the method is an iterator.</summary>
    public bool IsIterator { get; private set; }

    /// <summary>Returns the operations that mention a local, a parameter, a local function, or (for a type) the object itself.</summary>
    public IReadOnlyList<IOperation> References(ISymbol symbol) => symbol is ITypeSymbol ? _instances :
        _references.TryGetValue(symbol, out List<IOperation>? references) ? references : s_none;

    /// <summary>Returns the only value that a local is ever given, or null.</summary>
    public IOperation? OnlyValue(ISymbol local) =>
        _assigned.TryGetValue(local, out List<IOperation?>? values) && values.Count == 1 ? values[0] : null;

    /// <summary>Returns the values that a local gets; null stands for a value that is not seen.</summary>
    public IReadOnlyList<IOperation?> Values(ISymbol local) =>
        _assigned.TryGetValue(local, out List<IOperation?>? values) ? values : new List<IOperation?>();

    /// <summary>Returns the lambda or local function around an operation, or null if it belongs to the method itself.</summary>
    public IOperation? FunctionAround(IOperation operation)
    {
        for (IOperation? current = operation.Parent; current is not null && current != Root; current = current.Parent)
        {
            if (current is IAnonymousFunctionOperation or ILocalFunctionOperation)
            {
                return current;
            }
        }

        return null;
    }

    /// <summary>Returns whether the method may be suspended before it comes to <paramref name="operation"/>.</summary>
    public bool FollowsAwait(IOperation operation)
    {
        foreach (IAwaitOperation awaiting in _awaits)
        {
            if (awaiting.Syntax.SpanStart < operation.Syntax.SpanStart || SharesLoop(awaiting.Syntax, operation.Syntax))
            {
                return true;
            }
        }

        return false;
    }

    private static bool SharesLoop(SyntaxNode awaiting, SyntaxNode node)
    {
        for (SyntaxNode? current = awaiting.Parent; current is not null and not MemberDeclarationSyntax; current = current.Parent)
        {
            bool isLoop = current is WhileStatementSyntax or DoStatementSyntax or ForStatementSyntax or CommonForEachStatementSyntax;
            if (isLoop && current.Span.Contains(node.Span))
            {
                return true;
            }
        }

        return false;
    }

    private void Add(IOperation operation)
    {
        switch (operation)
        {
            case ILocalReferenceOperation { Local: var local }:
                AddTo(_references, local, operation);
                break;
            case IParameterReferenceOperation { Parameter: var parameter }:
                AddTo(_references, parameter, operation);
                break;
            case IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance }:
                _instances.Add(operation);
                break;
            case IInvocationOperation { TargetMethod: { MethodKind: MethodKind.LocalFunction } called }:
                AddTo(_references, called.OriginalDefinition, operation);
                break;
            case IMethodReferenceOperation { Method: { MethodKind: MethodKind.LocalFunction } named }:
                AddTo(_references, named.OriginalDefinition, operation);
                break;
            case IVariableDeclaratorOperation declarator when declarator.GetVariableInitializer() is { Value: var value }:
                AddTo(_assigned, declarator.Symbol, value);
                break;
            case ISimpleAssignmentOperation assignment when assignment.Target.Strip().ReferencedVariable() is { } target:
                AddTo(_assigned, target, assignment.IsRef ? null : assignment.Value);
                break;
            case IArgumentOperation argument when argument.IsByReference() && argument.Value.Strip().ReferencedVariable() is { } handed:
                AddTo(_assigned, handed, null);
                break;
            case ICoalesceAssignmentOperation coalesce when coalesce.Target.Strip().ReferencedVariable() is { } filled:
                AddTo(_assigned, filled, null);
                break;
            case IDeconstructionAssignmentOperation deconstruction:
                AddDeconstructed(deconstruction);
                break;
            case IReturnOperation returning when FunctionAround(returning) is null:
                _returns.Add(returning);
                IsIterator |= returning.Kind is OperationKind.YieldReturn or OperationKind.YieldBreak;
                break;
            case IAwaitOperation awaiting when FunctionAround(awaiting) is null:
                _awaits.Add(awaiting);
                break;
        }
    }

    private void AddDeconstructed(IDeconstructionAssignmentOperation deconstruction)
    {
        foreach (IOperation target in deconstruction.Target.DescendantsAndSelf())
        {
            if (target.ReferencedVariable() is { } variable)
            {
                AddTo(_assigned, variable, null);
            }
        }
    }

    private static void AddTo<T>(Dictionary<ISymbol, List<T>> lists, ISymbol key, T value)
    {
        if (!lists.TryGetValue(key, out List<T>? list))
        {
            lists.Add(key, list = new List<T>());
        }

        list.Add(value);
    }
}

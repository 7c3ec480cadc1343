using Allocator.Analyzers.Summaries;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Graph;

/// <summary>The locals, parameters and flow captures of a body, numbered, and which of them others can see.</summary>
internal sealed class VariableTable
{
    private const int Several = -1;

    private readonly ISymbol _body;
    private readonly KnownTypes _types;
    private readonly Dictionary<ISymbol, int> _symbols = new(SymbolEqualityComparer.Default);
    private readonly Dictionary<CaptureId, int> _captures = new();
    private readonly Dictionary<CaptureId, int> _copied = new();
    private readonly HashSet<int> _shared = new();
    private readonly HashSet<int> _captured = new();
    private readonly Dictionary<SyntaxNode, HashSet<ISymbol>> _lambdas = new();
    private readonly Dictionary<ISymbol, HashSet<ISymbol>> _functions = new(SymbolEqualityComparer.Default);
    private readonly KnownSymbols _known;
    private MethodBody? _operations;

    public VariableTable(ControlFlowGraph graph, ISymbol body, KnownSymbols known)
    {
        _body = body;
        _known = known;
        _types = known.Types;
        AddCapturedByFunctions(graph.OriginalOperation);
        foreach (BasicBlock block in graph.Blocks)
        {
            foreach (IOperation statement in block.Statements())
            {
                foreach (IOperation operation in statement.DescendantsAndSelf())
                {
                    Add(operation);
                }
            }
        }
    }

    public int Count { get; private set; }

    /// <summary>Gets whether a variable that holds an owner is also reached by reference, so that nothing is known about it.</summary>
    public bool HasAliases { get; private set; }

    /// <summary>Returns the number of the variable that <paramref name="operation"/> refers to, past conversions.</summary>
    public bool TryGet(IOperation operation, out int variable)
    {
        IOperation stripped = operation.Strip();
        if (stripped is IFlowCaptureReferenceOperation capture)
        {
            return _captures.TryGetValue(capture.Id, out variable);
        }

        variable = 0;
        return stripped.ReferencedVariable() is { } symbol && _symbols.TryGetValue(symbol, out variable);
    }

    public bool TryGet(ISymbol symbol, out int variable) => _symbols.TryGetValue(symbol, out variable);

    public int Of(CaptureId capture) => _captures[capture];

    /// <summary>Returns the local or parameter with a number, or null.</summary>
    public ISymbol? SymbolOf(int variable) => _symbols.FirstOrDefault(pair => pair.Value == variable).Key;

    /// <summary>Sets the one variable that a flow capture represents, as in <c>x ??= value</c> and <c>x?.Member</c>.</summary>
    public bool TryGetCopied(CaptureId capture, out int variable) =>
        _copied.TryGetValue(capture, out variable) && variable != Several;

    /// <summary>Returns whether a lambda, or code outside this body, reads or writes the variable.</summary>
    public bool IsShared(int variable) => _shared.Contains(variable);

    /// <summary>Returns whether lambdas or local functions see the variable, and do no more than look at its value.</summary>
    public bool IsCaptured(int variable) => _captured.Contains(variable);

    /// <summary>Returns the variables that a lambda or a local function captures.</summary>
    public IEnumerable<(ISymbol Symbol, int Variable)> CapturedBy(IOperation function)
    {
        HashSet<ISymbol>? symbols = null;
        _ = function switch
        {
            IFlowAnonymousFunctionOperation or IAnonymousFunctionOperation => _lambdas.TryGetValue(function.Syntax, out symbols),
            IMethodReferenceOperation { Method: var method } => _functions.TryGetValue(method.OriginalDefinition, out symbols),
            IInvocationOperation { TargetMethod: var method } => _functions.TryGetValue(method.OriginalDefinition, out symbols),
            _ => false,
        };
        foreach (ISymbol symbol in symbols ?? new HashSet<ISymbol>(SymbolEqualityComparer.Default))
        {
            if (TryGet(symbol, out int variable) && IsCaptured(variable))
            {
                yield return (symbol, variable);
            }
        }
    }

    /// <summary>Returns the only value that a local is ever given, in a body with functions; null if there is none or another.</summary>
    public IOperation? OnlyValue(IOperation variable) => variable.Strip() is ILocalReferenceOperation { Local: var local }
        && _operations?.References(local).Any(reference => reference.Parent is ICompoundAssignmentOperation) == false
        ? _operations.OnlyValue(local)?.Strip() : null;

    private void AddCapturedByFunctions(IOperation body)
    {
        foreach (IOperation operation in body.Descendants())
        {
            if (operation is IAnonymousFunctionOperation or ILocalFunctionOperation)
            {
                _operations ??= new MethodBody(body);
                AddCaptured(operation, _operations);
            }
        }

        AddCapturedByCalls();
    }

    private void AddCaptured(IOperation function, MethodBody operations)
    {
        HashSet<ISymbol> captured = new(SymbolEqualityComparer.Default);
        foreach (IOperation inner in function.Descendants())
        {
            if (inner.ReferencedVariable() is { } symbol)
            {
                captured.Add(symbol);
                bool isKnown = TryGet(symbol, out int number);
                if (!isKnown)
                {
                    number = NumberOf(symbol);
                    (IsLookedAt(symbol, operations) ? _captured : _shared).Add(number);
                }
            }
            else if (inner is IInvocationOperation { TargetMethod: { MethodKind: MethodKind.LocalFunction } called })
            {
                captured.Add(called.OriginalDefinition);
            }
        }

        if (function is ILocalFunctionOperation { Symbol: var local })
        {
            _functions[local.OriginalDefinition] = captured;
        }
        else
        {
            _lambdas[function.Syntax] = captured;
        }
    }

    // A function that calls a local function captures whatever the local function captures.
    private void AddCapturedByCalls()
    {
        bool changed = _functions.Count > 0;
        while (changed)
        {
            changed = false;
            foreach (HashSet<ISymbol> captured in _lambdas.Values.Concat(_functions.Values))
            {
                foreach (ISymbol called in captured.Where(_functions.ContainsKey).ToArray())
                {
                    int count = captured.Count;
                    captured.UnionWith(_functions[called]);
                    changed |= captured.Count > count;
                }
            }
        }
    }

    // It gets a value once, before any function sees it, and no function keeps or disposes it.
    private bool IsLookedAt(ISymbol symbol, MethodBody operations) =>
        symbol is ILocalSymbol { RefKind: RefKind.None } local
        && operations.Values(local).Count == 1
        && operations.OnlyValue(local) is { } value
        && operations.FunctionAround(value) is null
        && SlotsIn(value).All(slot => ValueTrace.InFunctions(local, operations, _known, slot)
            is { Escapes: false, Disposes: false, IsReturned: false });

    // Where a new object that does not own its buffers keeps them; null for an object that is followed itself.
    private IEnumerable<Slot?> SlotsIn(IOperation value)
    {
        List<Slot?> slots = new();
        if (value.Strip() is IObjectCreationOperation { Constructor: not null, Type: INamedTypeSymbol type, Initializer: null } creation
            && !type.DeclaringSyntaxReferences.IsEmpty && !_known.Owning.IsBuffer(type) && !HolderTable.HasFinalizer(type))
        {
            foreach (IArgumentOperation argument in creation.Arguments)
            {
                Passing passing = _types.CanKeep(argument.Value.Type) ? _known.Summaries.Of(argument.Parameter) : Passing.Mentioned;
                if (passing == Passing.Held && _known.Holders.SlotIn(creation, argument.Parameter!, _known.Summaries.Of) is { } slot)
                {
                    slots.Add(slot);
                }
                else if (passing is not (Passing.Borrowed or Passing.Mentioned))
                {
                    return [null];
                }
            }
        }

        return slots.Count == 0 ? [null] : slots;
    }

    private void Add(IOperation operation)
    {
        switch (operation)
        {
            case ILocalReferenceOperation { Local: var local }:
                int number = NumberOf(local);
                if (IsOfOuterBody(local))
                {
                    _shared.Add(number);
                }

                HasAliases |= local.RefKind != RefKind.None && MayHoldOwner(local.Type);
                break;
            case IParameterReferenceOperation { Parameter: var parameter }:
                int ordinal = NumberOf(parameter);
                if (parameter.RefKind != RefKind.None || IsOfOuterBody(parameter) || IsOfPrimaryConstructor(parameter))
                {
                    _shared.Add(ordinal);
                }

                break;
            case IFlowCaptureOperation capture:
                Add(capture);
                break;
            case IFlowCaptureReferenceOperation reference:
                NumberOf(reference.Id);
                break;
            case IArgumentOperation { Parent: { } call } argument when argument.IsByReference() && ResultMayRefer(call):
                AddShared(argument.Value);
                break;
        }
    }

    private void Add(IFlowCaptureOperation capture)
    {
        NumberOf(capture.Id);
        int source = Several;
        if (TryGet(capture.Value, out int copied)
            || (capture.Value.Strip() is ISimpleAssignmentOperation assignment && TryGet(assignment.Target, out copied)))
        {
            source = copied;
        }

        _copied[capture.Id] = _copied.TryGetValue(capture.Id, out int earlier) && earlier != source ? Several : source;
    }

    private void AddShared(IOperation value)
    {
        if (value.Strip().ReferencedVariable() is { } symbol)
        {
            _shared.Add(NumberOf(symbol));
        }
    }

    // A result of these can hold a reference to the variable itself: a later write through it would go unseen.
    private bool ResultMayRefer(IOperation call) => call switch
    {
        IInvocationOperation { TargetMethod: { } method } =>
            method.ReturnsByRef || method.ReturnsByRefReadonly || _known.IsRaw(method.ReturnType),
        IObjectCreationOperation { Type: { } type } => _known.IsRaw(type),
        _ => false,
    };

    private bool MayHoldOwner(ITypeSymbol type) =>
        !type.IsUnmanagedType && !(type.IsValueType && !_known.IsRaw(type) && !_types.IsMemory(type) && !_known.Owning.IsBuffer(type));

    private bool IsOfOuterBody(ISymbol symbol) =>
        _body is IMethodSymbol { MethodKind: MethodKind.AnonymousFunction or MethodKind.LocalFunction }
        && !SymbolEqualityComparer.Default.Equals(symbol.ContainingSymbol, _body);

    private bool IsOfPrimaryConstructor(IParameterSymbol parameter) =>
        parameter.ContainingSymbol is IMethodSymbol { MethodKind: MethodKind.Constructor } constructor
        && !SymbolEqualityComparer.Default.Equals(constructor, _body);

    private int NumberOf(ISymbol symbol)
    {
        if (!_symbols.TryGetValue(symbol, out int number))
        {
            _symbols.Add(symbol, number = Count++);
        }

        return number;
    }

    private void NumberOf(CaptureId capture)
    {
        if (!_captures.ContainsKey(capture))
        {
            _captures.Add(capture, Count++);
        }
    }
}

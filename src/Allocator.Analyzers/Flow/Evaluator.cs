using System.Runtime.CompilerServices;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Flow;

/// <summary>
/// Carries a state over one operation: what its value is backed by, and what it does to owners.
/// Everything that an unknown operation receives escapes.
/// </summary>
internal sealed partial class Evaluator
{
    private readonly Body _body;
    private readonly KnownTypes _types;
    private readonly KnownMembers _members;
    private readonly VariableTable _variables;
    private readonly Dictionary<IOperation, int> _storeNumbers = new();

    // The call whose task is awaited at once: after the await it no longer uses what it borrowed.
    private IInvocationOperation? _awaited;

    public Evaluator(Body body)
    {
        _body = body;
        _types = body.Known.Types;
        _members = body.Known.Members;
        _variables = body.Variables;
        State = new FlowState(_variables.Count);
    }

    public FlowState State { get; set; }

    /// <summary>Gets or sets where uses are noted; null while states are still growing.</summary>
    public List<Use>? Uses { get; set; }

    /// <summary>Gets or sets where mistakes are noted; null while states are still growing.</summary>
    public List<Finding>? Findings { get; set; }

    /// <summary>Gets or sets where awaits are noted that may end before their task; null while states are still growing.</summary>
    public List<Interruption>? Interruptions { get; set; }

    /// <summary>Gets the stores seen so far. Bit i of <see cref="FlowState.Stored"/> is the i-th.</summary>
    public List<Store> Stores { get; } = new();

    /// <summary>Gets the allocations that were disposed anywhere.</summary>
    public ulong EverDisposed { get; private set; }

    /// <summary>Gets the allocations that escaped anywhere.</summary>
    public ulong EverEscaped { get; private set; }

    /// <summary>Gets the owners that are returned, stored or given away anywhere.</summary>
    public ulong EverHanded { get; private set; }

    /// <summary>Evaluates an operation.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="asLocation">Whether only its location is needed, so that nothing is read from memory.</param>
    public Holding Evaluate(IOperation operation, bool asLocation = false)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        switch (operation)
        {
            case IExpressionStatementOperation statement:
                Evaluate(statement.Operation);
                return default;
            case IFlowCaptureOperation capture:
                State[_variables.Of(capture.Id)] = Evaluate(capture.Value, asLocation: capture.Value.IsRefLocal());
                return default;
            case IFlowCaptureReferenceOperation reference:
                return State[_variables.Of(reference.Id)];
            case ILocalReferenceOperation or IParameterReferenceOperation:
                return EvaluateVariable(operation, asLocation);
            case IDeclarationExpressionOperation declaration:
                return Evaluate(declaration.Expression, asLocation);
            case ISimpleAssignmentOperation assignment:
                return EvaluateAssignment(assignment);
            case ICompoundAssignmentOperation compound:
                Escape(Evaluate(compound.Value));
                Evaluate(compound.Target);
                return default;
            case IDeconstructionAssignmentOperation deconstruction:
                return EvaluateDeconstruction(deconstruction);
            case IConversionOperation conversion:
                return EvaluateConversion(conversion, asLocation);
            case IInvocationOperation call:
                return EvaluateCall(call, asLocation);
            case ITranslatedQueryOperation query:
                return Evaluate(query.Operation, asLocation);
            case IPropertyReferenceOperation property:
                return EvaluateProperty(property, asLocation);
            case IImplicitIndexerReferenceOperation indexer:
                return EvaluateImplicitIndexer(indexer, asLocation);
            case IObjectCreationOperation creation:
                return EvaluateCreation(creation);
            case IAwaitOperation awaiting:
                return EvaluateAwait(awaiting);
            case IReturnOperation { Kind: OperationKind.YieldReturn } yield:
                EvaluateYield(yield);
                Hoist();
                return default;
            case IAddressOfOperation address:
                return Evaluate(address.Reference, asLocation: true);
            case IIncrementOrDecrementOperation increment:
                Holding target = Evaluate(increment.Target);
                return _body.Known.IsRaw(increment.Type) ? target : default;
            case IDelegateCreationOperation creation:
                return EvaluateDelegate(creation);
            case IFlowAnonymousFunctionOperation:
                return Captured(operation);
            case ITupleOperation tuple:
                return EvaluateContainer(tuple, tuple.Elements);
            case IArrayCreationOperation array:
                EscapeAll(array.DimensionSizes);
                return EvaluateContainer(array, array.Initializer?.ElementValues ?? ImmutableArray<IOperation>.Empty);
            case var collection when collection.IsCollectionExpression():
                return EvaluateContainer(collection, collection.ChildOperations);
            case IFieldReferenceOperation { Instance: { } instance } field:
                return EvaluateField(field, instance);
            case IDiscardOperation:
                return default;
            case IBinaryOperation or IUnaryOperation when operation.CalledOperator() is { } method && !_members.IsKnown(method):
                return EvaluateOperator(operation, method);
            default:
                return EvaluateTest(operation) ? default : EvaluateUnknown(operation, asLocation);
        }
    }

    /// <summary>Marks as escaped what is returned or goes to a place that is not followed.</summary>
    public void Escape(Holding value)
    {
        State.Escape(value);
        EverEscaped |= value.Keep;
        EverHanded |= value.Own;
    }

    private Holding EvaluateVariable(IOperation operation, bool asLocation)
    {
        if (!_variables.TryGet(operation, out int variable))
        {
            return default;
        }

        Holding value = State[variable];
        if (_variables.IsShared(variable))
        {
            Escape(value);
        }
        else if (_variables.IsCaptured(variable))
        {
            State.Reachable |= value.Keep;
        }

        if (!asLocation && operation.IsRefLocal() && value.Raw != 0)
        {
            Touch(operation, value);
            return default;
        }

        return value;
    }

    /// <summary>Evaluates an operation that only compares with null or by reference: nothing escapes.</summary>
    private bool EvaluateTest(IOperation operation)
    {
        switch (operation)
        {
            case IIsNullOperation test:
                Evaluate(test.Operand);
                return true;
            case IIsTypeOperation test:
                Evaluate(test.ValueOperand);
                return true;
            case IIsPatternOperation test:
                EvaluatePattern(test.Pattern, Evaluate(test.Value), test);
                return true;
            case IBinaryOperation binary when binary.OperatorMethod is null
                ? !_body.Known.IsRaw(binary.Type) : _members.IsKnown(binary.OperatorMethod):
                Evaluate(binary.LeftOperand);
                Evaluate(binary.RightOperand);
                return true;
            default:
                return false;
        }
    }

    private void EvaluateYield(IReturnOperation yield)
    {
        Holding value = yield.ReturnedValue is null ? default : Evaluate(yield.ReturnedValue);
        ulong stale = value.Memory & ~value.Own & State.SurelyDisposed & ~State.OwnerEscaped & ~State.Pinned & _body.Sites.Buffers;
        Findings?.Add(new Finding(LifetimeRules.OutlivesOwner, yield.ReturnedValue ?? yield, stale));
        Escape(value);
    }

    private Holding EvaluateUnknown(IOperation operation, bool asLocation)
    {
        Holding value = default;
        bool hasPointer = false;
        foreach (IOperation child in operation.ChildOperations)
        {
            Holding part = Evaluate(child, asLocation);
            Escape(part);
            value |= part;
            hasPointer |= child.Type is IPointerTypeSymbol;
        }

        ForgetDeclared(operation);
        if (operation is IInvalidOperation or not { Kind: OperationKind.None or OperationKind.Binary })
        {
            return default;
        }

        // The initializer of `fixed`, *p, p[i] and p + i have no kind of their own.
        if (operation.Type is null or IPointerTypeSymbol)
        {
            return new Holding(0, 0, value.Raw);
        }

        if (!hasPointer || asLocation)
        {
            return hasPointer ? new Holding(0, 0, value.Raw) : default;
        }

        Touch(operation, value);
        return default;
    }

    private void ForgetDeclared(IOperation operation)
    {
        foreach (IOperation inner in operation.DescendantsAndSelf())
        {
            ISymbol? declared = inner switch
            {
                IDeclarationPatternOperation pattern => pattern.DeclaredSymbol,
                IRecursivePatternOperation pattern => pattern.DeclaredSymbol,
                IListPatternOperation pattern => pattern.DeclaredSymbol,
                _ => null,
            };
            if (declared is not null && _variables.TryGet(declared, out int variable))
            {
                State[variable] = default;
            }
        }
    }

    private void EscapeChildren(IOperation operation) => EscapeAll(operation.ChildOperations);

    private void EscapeAll(IEnumerable<IOperation> operations)
    {
        foreach (IOperation operation in operations)
        {
            Escape(Evaluate(operation));
        }
    }

    /// <summary>Notes that memory is read or written through a span, ref or pointer.</summary>
    private void Touch(IOperation operation, Holding value)
    {
        if (value.Raw != 0)
        {
            Uses?.Add(new Use(operation, value.Raw & ~value.Direct & _body.Sites.Buffers, 0, State));
        }
    }

    /// <summary>Notes an access to an owner, or its memory, that would throw if it were disposed.</summary>
    private void TouchOwner(IOperation operation, Holding value)
    {
        if (value.Direct != 0)
        {
            Uses?.Add(new Use(operation, 0, value.Direct & _body.Sites.Buffers, State));
        }
    }
}

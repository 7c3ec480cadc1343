using System.Runtime.CompilerServices;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// Follows the owner in one variable through a body, in whatever order that runs: into other variables, views, objects and lambdas,
/// until it leaves. It escapes unless what happens to it is known to be harmless.
/// </summary>
internal sealed partial class ValueTrace
{
    private readonly MethodBody _body;
    private readonly KnownSymbols _known;
    private readonly Func<ISymbol, Slot?, Passing> _passingOf;
    private readonly bool _isConstructor;
    private readonly bool _onlyInFunctions;
    private readonly ISymbol _subject;
    private readonly Queue<(ISymbol Variable, Grip Grip)> _waiting = new();
    private readonly HashSet<ISymbol> _followed = new(SymbolEqualityComparer.Default);
    private readonly HashSet<IOperation> _touched = new();

    private ValueTrace(
        ISymbol subject, MethodBody body, KnownSymbols known, Func<ISymbol, Slot?, Passing> passingOf, IMethodSymbol? method,
        bool onlyInFunctions)
    {
        _subject = subject;
        _body = body;
        _known = known;
        _passingOf = passingOf;
        _isConstructor = method is { MethodKind: MethodKind.Constructor };
        _onlyInFunctions = onlyInFunctions;
    }

    /// <summary>Gets whether code that is not followed may keep it.</summary>
    public bool Escapes { get; private set; }

    /// <summary>Gets whether the body may dispose it.</summary>
    public bool Disposes { get; private set; }

    /// <summary>Gets whether the body does more than compare or describe it, whatever its other arguments and the fields are.</summary>
    public bool IsTouched { get; private set; }

    /// <summary>Gets whether it, or memory of it, is returned.</summary>
    public bool IsReturned { get; private set; }

    /// <summary>Gets whether memory of the object is given to the caller by a parameter.</summary>
    public bool IsHandedOut { get; private set; }

    /// <summary>Gets whether an object that holds it is returned, or the object under construction holds it.</summary>
    public bool IsHeldByResult { get; private set; }

    /// <summary>Gets whether the returned task uses it until it ends.</summary>
    public bool IsHeldByTask { get; private set; }

    /// <summary>Gets whether an async method or iterator mentions it after it may have been suspended.</summary>
    public bool IsUsedLate { get; private set; }

    /// <summary>Gets whether it is an object that owns, and gets another buffer to own.</summary>
    public bool IsRefilled { get; private set; }

    /// <summary>Gets whether it becomes part of what the object under construction owns.</summary>
    public bool IsTakenOver { get; private set; }

    /// <summary>Follows a variable, or for a method its own object, through a whole body.</summary>
    public static ValueTrace Of(
        ISymbol variable, MethodBody body, KnownSymbols known, Func<ISymbol, Slot?, Passing> passingOf, IMethodSymbol? method,
        Slot? slot = null)
    {
        ValueTrace trace = new(variable, body, known, passingOf, method, onlyInFunctions: false);
        trace.Run(slot);
        return trace;
    }

    /// <summary>Follows a variable through the lambdas and local functions that capture it, not through the body around them.</summary>
    public static ValueTrace InFunctions(ISymbol variable, MethodBody body, KnownSymbols known, Slot? slot)
    {
        ValueTrace trace = new(variable, body, known, known.Summaries.Of, null, onlyInFunctions: true);
        trace.Run(slot);
        return trace;
    }

    private void Run(Slot? slot)
    {
        Alias(_subject is IMethodSymbol { ContainingType: var type } ? type : _subject, slot is null ? Grip.Direct : Grip.Inside(slot));
        foreach (ISymbol kept in _subject is not IMethodSymbol ? [] : slot?.Members ?? _known.Owning.MembersOf(_subject.ContainingType))
        {
            if (kept is IParameterSymbol { Type: var held })
            {
                Alias(kept, slot is null ? Grip.Direct : GripOf(held));
            }
        }

        while (_waiting.Count > 0 && !Escapes)
        {
            (ISymbol alias, Grip grip) = _waiting.Dequeue();
            foreach (IOperation reference in _body.References(alias))
            {
                FollowReference(reference, grip);
            }
        }
    }

    private void Alias(ISymbol variable, Grip grip)
    {
        if (_followed.Add(variable))
        {
            _waiting.Enqueue((variable, grip));
        }
    }

    private void FollowReference(IOperation reference, Grip grip)
    {
        IOperation? function = _body.FunctionAround(reference);
        if (_onlyInFunctions)
        {
            if (function is not null)
            {
                Follow(reference, grip);
            }

            return;
        }

        IsUsedLate |= _body.FollowsAwait(reference);
        Follow(reference, grip);
        for (; function is not null && !Escapes; function = _body.FunctionAround(function))
        {
            FollowFunction(function);
        }
    }

    // A lambda that captured the owner holds it.
    private void FollowFunction(IOperation function)
    {
        if (function is not ILocalFunctionOperation { Symbol: var local })
        {
            Follow(function.Parent is IDelegateCreationOperation ? function.Parent : function, Grip.Holder);
            return;
        }

        foreach (IOperation mention in _body.References(local))
        {
            if (mention is IMethodReferenceOperation { Parent: { } creation })
            {
                Follow(creation, Grip.Holder);
            }
            else if (_known.Types.CanKeep(((IInvocationOperation)mention).Type))
            {
                Follow(mention, Grip.Holder);
            }
        }
    }

    private void Follow(IOperation value, Grip grip)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (!_known.Types.CanKeep(value.Type) && value is not IAnonymousFunctionOperation)
        {
            return;
        }

        switch (value.Parent)
        {
            case IConversionOperation conversion:
                FollowUnless(conversion.OperatorMethod is { } method && !_known.Members.IsKnown(method), conversion, grip);
                break;
            case IParenthesizedOperation or ICoalesceOperation or ISwitchExpressionArmOperation or ISwitchExpressionOperation
                or IDeclarationExpressionOperation or ITranslatedQueryOperation:
                Follow(value.Parent, grip);
                break;
            case IConditionalOperation conditional when conditional.Condition != value:
                Follow(conditional, grip);
                break;
            case ITupleOperation tuple when Deconstruction.Around(tuple) is { } pairs:
                FollowPart(value, pairs, grip);
                break;
            case IDeconstructionAssignmentOperation deconstruction:
                FollowParts(deconstruction, grip);
                break;
            case ITupleOperation or IArrayCreationOperation
                or IAnonymousObjectCreationOperation:
                Follow(value.Parent, Grip.Holder);
                break;
            case IArrayInitializerOperation { Parent: { } array }:
                Follow(array, Grip.Holder);
                break;
            case { } collection when collection.IsCollectionExpression():
                Follow(collection, Grip.Holder);
                break;
            case { Syntax: SpreadElementSyntax, Parent: { } collection }:
                Touch(collection);
                FollowItems(collection);
                break;
            case IArgumentOperation argument:
                FollowArgument(argument, grip);
                break;
            case IInvocationOperation call:
                FollowCallOn(call, grip);
                break;
            case IPropertyReferenceOperation property:
                FollowMember(property, property.Property, grip);
                break;
            case IArrayElementReferenceOperation { Parent: ISimpleAssignmentOperation written } element when written.Target == element:
            case ICoalesceAssignmentOperation filled when filled.Target == value && filled.Parent is IExpressionStatementOperation:
                break;
            case IArrayElementReferenceOperation element when element.ArrayReference == value:
                Follow(element, grip);
                break;
            case IImplicitIndexerReferenceOperation indexer:
                FollowUnless(!_known.Members.IsKnown(indexer.IndexerSymbol), indexer, grip);
                break;
            case IFieldReferenceOperation field:
                FollowField(field, grip);
                break;
            case IEventReferenceOperation { Parent: IConditionalAccessOperation or IInvocationOperation }:
                break;
            case IConditionalAccessOperation access:
                FollowAccess(access, value, grip);
                break;
            case IVariableInitializerOperation { Parent: IVariableDeclaratorOperation { Symbol: var local } declarator }:
                FollowDeclarator(declarator, local, grip);
                break;
            case ISimpleAssignmentOperation assignment when assignment.Value == value:
                FollowAssignment(assignment, grip);
                break;
            case IReturnOperation returning:
                FollowReturn(returning, grip);
                break;
            case IAwaitOperation when grip.IsTask:
                break;
            case IAwaitOperation:
                Follow(value.Parent, grip);
                break;
            case IForEachLoopOperation loop:
                Touch(loop);
                FollowLoop(loop);
                break;
            case IIsPatternOperation { Pattern: var pattern }:
                FollowPattern(pattern, grip);
                break;
            case IMethodReferenceOperation { Parent: { } created } named when !_known.Members.IsDispose(named.Method):
                Follow(created, Grip.Holder);
                break;
            case IUsingOperation:
                Disposes = Escapes = true;
                break;
            case IExpressionStatementOperation or IIsTypeOperation or ILockOperation or INameOfOperation
                or IInterpolationOperation or ISimpleAssignmentOperation or IVariableInitializerOperation { Parent: null } or null:
                break;
            case IBinaryOperation { OperatorMethod: null }:
                break;
            case { } operation when operation.CalledOperator() is { } called && !_known.Members.IsKnown(called):
                int ordinal = operation is IBinaryOperation { RightOperand: var right } && right == value ? 1 : 0;
                FollowBy(_passingOf(called.Parameters[ordinal], grip.Slot), operation, grip);
                break;
            default:
                Escapes = true;
                break;
        }
    }

    private void Touch(IOperation operation)
    {
        if (IsTouched || Certainty.MayReturnBefore(operation, _subject, _body))
        {
            return;
        }

        IOperation? branch = Certainty.BranchAround(operation, _subject, _body);
        if (branch is null)
        {
            IsTouched = true;
        }
        else if (_touched.Add(branch) && branch.Parent is IConditionalOperation { WhenTrue: var one, WhenFalse: { } other }
            && _touched.Contains(one) && _touched.Contains(other))
        {
            Touch(branch.Parent);
        }
    }

    private void FollowItems(IOperation collection)
    {
        if (_known.Types.CanKeepComplete(collection.Type))
        {
            Follow(collection, Grip.Holder);
        }
    }

    private void FollowUnless(bool escapes, IOperation value, Grip grip)
    {
        if (escapes)
        {
            Escapes = true;
        }
        else
        {
            Follow(value, grip);
        }
    }
}

using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>Arrays, lists and dictionaries that receive memory or tasks: new ones in this body, and those in fields.</summary>
internal sealed partial class Evaluator
{
    private readonly Dictionary<ISymbol, bool> _onlyFilled = new(SymbolEqualityComparer.Default);

    private bool IsOfMemory(ITypeSymbol? collection) => _types.IsMemory(CollectedType.ItemOf(collection));

    // A list of tasks or memory that this body creates and keeps in a variable.
    private bool AddsToNewCollection(IInvocationOperation call) =>
        IsAddition(call) && call.TargetMethod.Parameters is { Length: > 0 } parameters && IsNew(call.Instance)
        && parameters[parameters.Length - 1].Type is var added
        && (_types.IsTask(added) || (_types.IsMemory(added) && IsOnlyFilled(call.Instance)));

    private bool IsAddition(IInvocationOperation call) =>
        call is { TargetMethod: { Name: "Add" or "Enqueue" or "Push" or "AddLast" or "TryAdd" } method, Instance: not null }
        && _members.IsOfBaseLibrary(method);

    private bool IsNew(IOperation? collection) =>
        collection is ILocalReferenceOperation { Local.DeclaringSyntaxReferences: { Length: 1 } declared }
        && _variables.TryGet(collection, out int variable) && !_variables.IsShared(variable) && !_variables.IsCaptured(variable)
        && declared[0].GetSyntax() is VariableDeclaratorSyntax { Initializer.Value: var made }
        && made is BaseObjectCreationExpressionSyntax or CollectionExpressionSyntax or ArrayCreationExpressionSyntax;

    /// <summary>Puts memory into an element of a new array or dictionary, or of one in a field.</summary>
    /// <returns>Whether it is followed there.</returns>
    private bool AssignElement(IOperation target, Holding value)
    {
        IOperation? collection = target switch
        {
            IArrayElementReferenceOperation element => element.ArrayReference,
            IPropertyReferenceOperation { Property.IsIndexer: true } item => item.Instance,
            _ => null,
        };
        if (collection is null || !IsOfMemory(collection.Type))
        {
            return false;
        }

        if (IsNew(collection) && IsOnlyFilled(collection) && _variables.TryGet(collection, out int variable))
        {
            foreach (IOperation index in target.ChildOperations)
            {
                _ = index == collection ? default : Evaluate(index);
            }

            State[variable] |= Hold(value.Keep, value.Own);
            return true;
        }

        Evaluate(target, asLocation: true);
        Escape(value);
        NoteCollected(target, collection, value);
        return true;
    }

    private void NoteCollected(IOperation place, IOperation? collection, Holding value)
    {
        if (value.Memory != 0 && collection is IFieldReferenceOperation { Field: var field, Instance: null or IInstanceReferenceOperation }
            && IsOfMemory(field.Type) && IsOnlyFilled(collection) && (place is not IInvocationOperation call || IsAddition(call)))
        {
            NoteStore(place, field, value, isOneOfMany: true);
        }
    }

    // Items are only added to it and read here, and nothing removes them.
    private bool IsOnlyFilled(IOperation? collection)
    {
        if (VariableOf(collection) is not { } variable)
        {
            return false;
        }

        if (!_onlyFilled.TryGetValue(variable, out bool isOnlyFilled))
        {
            isOnlyFilled = _body.Graph.OriginalOperation.Descendants().All(operation =>
                !SymbolEqualityComparer.Default.Equals(VariableOf(operation), variable) || KeepsItems(operation));
            _onlyFilled.Add(variable, isOnlyFilled);
        }

        return isOnlyFilled;
    }

    private static ISymbol? VariableOf(IOperation? operation) =>
        (operation as IFieldReferenceOperation)?.Field ?? operation?.ReferencedVariable();

    private bool KeepsItems(IOperation mention)
    {
        IOperation value = mention;
        while (value.Parent is IConversionOperation conversion)
        {
            value = conversion;
        }

        return value.Parent switch
        {
            IReturnOperation or ILockOperation or IForEachLoopOperation => true,
            IInvocationOperation call => call.Instance == mention && (IsAddition(call) || call.TargetMethod.Name == "ToArray"),
            IPropertyReferenceOperation { Property.IsIndexer: false } => true,
            IPropertyReferenceOperation { Parent: var use } item => KeepsItem(use, item),
            IArrayElementReferenceOperation { Parent: var use } item => KeepsItem(use, item),
            _ => false,
        };
    }

    // It is only read or given memory; an array or null could replace the earlier content.
    private bool KeepsItem(IOperation? use, IOperation item) => use switch
    {
        ISimpleAssignmentOperation { IsRef: false } assignment => assignment.Target != item || (_types.IsMemory(assignment.Value.Type)
            && assignment.Value is IPropertyReferenceOperation or ILocalReferenceOperation
                or IInvocationOperation { TargetMethod.Name: "Slice" } or IImplicitIndexerReferenceOperation),
        IArgumentOperation argument => !argument.IsByReference(),
        IInvocationOperation or IPropertyReferenceOperation => true,
        _ => false,
    };
}

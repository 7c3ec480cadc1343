using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>Objects that own the buffers which their constructor creates or takes over.</summary>
internal sealed partial class ResultOrigin
{
    private Origin OfCreation(IObjectCreationOperation creation, MethodBody body, IMethodSymbol method)
    {
        if (_looksForFresh && _known.Types.IsTask(creation.Type) && creation.Arguments.Length == 1)
        {
            return OfValue(creation.Arguments[0].Value, body, method);
        }

        if (creation.Constructor is not { } constructor || !_known.Owning.IsBuffer(constructor.ContainingType))
        {
            return Origin.Unknown;
        }

        return OfConstruction(constructor, creation.Arguments, body, method);
    }

    /// <summary>Returns which part of the tuple that a method returns is a new owner; -1 if none is, or several may be.</summary>
    public int FreshItem(IMethodSymbol method)
    {
        IMethodSymbol definition = MethodBodies.DefinitionOf(method);
        if (ItemsOf(definition.ReturnType) is not { } items || MethodBodies.MayBeOverridden(definition)
            || _known.Bodies.Of(definition) is not { IsIterator: false } body)
        {
            return -1;
        }

        int[] owners = [.. Enumerable.Range(0, items.Length).Where(i => _known.Owning.IsBuffer(items[i].Type))];
        Origin all = owners.Length != 1 ? Origin.Unknown : body.Returns.Aggregate(Origin.Any, (origin, returning) => origin.And(
            returning.ReturnedValue?.Strip() is ITupleOperation { Elements: var parts } && parts.Length == items.Length
                ? OfValue(parts[owners[0]], body, definition) : Origin.Unknown));
        return all.IsFresh ? owners[0] : -1;
    }

    private ImmutableArray<IFieldSymbol>? ItemsOf(ITypeSymbol type) =>
        (_known.Types.ResultOfTask(type) ?? type) is INamedTypeSymbol { IsTupleType: true } tuple ? tuple.TupleElements : null;

    /// <summary>Returns whether all that a lambda returns is a new owner.</summary>
    public bool IsMadeBy(IAnonymousFunctionOperation lambda)
    {
        // It may call itself through its variable.
        return lambda.Symbol is { IsAsync: false, ReturnType: { } type } && _known.Owning.IsBuffer(type)
            && Ask(lambda.Symbol, Asked.Value, () => OfBody(new MethodBody(lambda), lambda.Symbol, isReference: false).IsFresh);
    }

    /// <summary>Returns whether all that a method hands out by a parameter is a new owner, or null.</summary>
    public bool IsHandedOut(IParameterSymbol parameter)
    {
        IMethodSymbol method = (IMethodSymbol)parameter.ContainingSymbol;
        return _known.Owning.IsBuffer(parameter.Type) && !MethodBodies.MayBeOverridden(method) && !_known.Types.CanShow(method.ReturnType)
            && _known.Bodies.Of(method) is { } body && OfVariable(SummaryTable.DefinitionOf(parameter), body, method).IsFresh;
    }

    private Origin OfConstruction(
        IMethodSymbol constructor, ImmutableArray<IArgumentOperation> arguments, MethodBody body, IMethodSymbol method)
    {
        bool isMade = _looksForFresh && IsMadeBy(constructor);
        Origin all = isMade ? Origin.Fresh : Origin.Any;
        bool isTaken = false;
        foreach (IArgumentOperation argument in arguments)
        {
            bool isOwned = argument.Parameter is { } parameter && _known.Owning.Takes(parameter)
                && (!_looksForFresh || _known.Summaries.Of(parameter) == Passing.Returned);
            isTaken |= isOwned;
            all = isOwned ? all.And(OfValue(argument.Value, body, method)) : all;
        }

        return isMade || isTaken ? all : Origin.Unknown;
    }

    /// <summary>Returns whether a constructor certainly makes an owner for the new object, and hands it to nothing else.</summary>
    public bool IsMadeBy(IMethodSymbol constructor)
    {
        IMethodSymbol definition = constructor.OriginalDefinition;
        INamedTypeSymbol type = definition.ContainingType;
        return _known.Owning.IsBuffer(type) && Ask(definition, Asked.Making, () =>
            ((_known.Bodies.Of(definition) is { } body && IsFilled(body, definition, type))
                || _known.Owning.Initializers(definition).Any(value => OfValue(value, new MethodBody(value), definition).IsFresh)
                || (_known.Bodies.UnnamedBaseOf(definition) is { } parent && IsMadeBy(parent)))
            && _known.Summaries.Of(definition) is Passing.Borrowed or Passing.Mentioned or Passing.Refilled);
    }

    /// <summary>Returns whether a method certainly makes an owner for its own object.</summary>
    public bool IsFilledBy(IMethodSymbol method)
    {
        IMethodSymbol definition = MethodBodies.DefinitionOf(method);
        if (definition.IsStatic || MethodBodies.MayBeOverridden(definition) || !_known.Owning.IsOwning(definition.ContainingType)
            || _known.Bodies.Of(definition) is not { } body)
        {
            return false;
        }

        return Ask(definition, Asked.Filling, () => IsFilled(body, definition, definition.ContainingType));
    }

    /// <summary>Returns whether a method may make an owner for its own object, as one that grows when it has to.</summary>
    public bool MayFill(IMethodSymbol method)
    {
        IMethodSymbol definition = MethodBodies.DefinitionOf(method);
        if (definition.IsStatic || _known.Bodies.Of(definition) is not { } body)
        {
            return false;
        }

        return Ask(definition, Asked.PossibleFilling, () => body.Root.Descendants().Any(part => part switch
        {
            ISimpleAssignmentOperation { Target: var target, Value: var value } => IsOfObject(target, definition.ContainingType)
                && OfValue((value.ReferencedVariable() is { } local ? body.OnlyValue(local) : null) ?? value, body, definition).IsFresh,
            IInvocationOperation { Instance: IInstanceReferenceOperation, TargetMethod: var own } => MayFill(own),
            _ => false,
        }));
    }

    // A question that leads back to itself proves nothing.
    private bool Ask(IMethodSymbol method, Asked about, Func<bool> find) =>
        _question.Ask((method, method, about), Origin.Unknown, () => find() ? Origin.Fresh : Origin.Unknown).IsFresh;

    private bool IsFilled(MethodBody body, IMethodSymbol method, INamedTypeSymbol type) => body.Root.Descendants().Any(part =>
        Fills(part, body, method, type) && (method.MethodKind == MethodKind.Constructor || IsForAllArguments(part, body)));

    // Not if a test of an argument or another return precedes it.
    private static bool IsForAllArguments(IOperation filling, MethodBody body)
    {
        for (IOperation? parent = filling.Parent; parent is not null; parent = parent.Parent)
        {
            if (parent is IConditionalOperation { Condition: var condition }
                && condition.DescendantsAndSelf().Any(part => part is IParameterReferenceOperation))
            {
                return false;
            }
        }

        return body.Returns.All(returning => returning.Syntax.SpanStart > filling.Syntax.SpanStart);
    }

    private bool Fills(IOperation part, MethodBody body, IMethodSymbol method, INamedTypeSymbol type) => part switch
    {
        ISimpleAssignmentOperation { Target: var target, Value: var value } => IsOfObject(target, type)
            ? Certainty.IsCertain(part, body) && (OfValue(value, body, method).IsFresh || AreItemsFresh(value, body, method))
            : IsItemOfObject(target, type) && Certainty.IsCertain(part, body, inLoops: true) && OfValue(value, body, method).IsFresh,
        ICoalesceAssignmentOperation { Target: var target, Value: var value } =>
            IsOfObject(target, type) && Certainty.IsCertain(part, body) && OfValue(value, body, method).IsFresh,
        IInvocationOperation { TargetMethod: { MethodKind: MethodKind.Constructor } other } chained =>
            OfConstruction(other, chained.Arguments, body, method).IsFresh,
        IInvocationOperation { Instance: IInstanceReferenceOperation, TargetMethod: var own } =>
            Certainty.IsCertain(part, body) && IsFilledBy(own),
        IInvocationOperation { TargetMethod: { Name: "Add" or "Enqueue" or "Push", ReturnsVoid: true }, Instance: { } list } add =>
            IsOfObject(list, type) && CollectedType.ItemOf(list.Type) is not null && Certainty.IsCertain(part, body, inLoops: true)
            && OfValue(add.Arguments[add.Arguments.Length - 1].Value, body, method).IsFresh,
        _ => false,
    };

    // `[allocator.Allocate<byte>(1), …]`, and what a query makes of numbers.
    private bool AreItemsFresh(IOperation value, MethodBody body, IMethodSymbol method) =>
        CollectedType.ItemOf(value.Type) is not null && value.Strip() switch
        {
            IArrayCreationOperation { Initializer.ElementValues: var items } => items.Any(item => OfValue(item, body, method).IsFresh),
            IInvocationOperation { TargetMethod.ContainingType.Name: "Enumerable" or "Array" } query => query.Descendants().Any(
                part => part is IReturnOperation { ReturnedValue: { } item } && OfValue(item, body, method).IsFresh),
            var other => other.IsCollectionExpression() && other.ChildOperations.Any(item => OfValue(item, body, method).IsFresh),
        };

    private bool IsItemOfObject(IOperation target, INamedTypeSymbol type) => target switch
    {
        IArrayElementReferenceOperation element => IsOfObject(element.ArrayReference, type),
        IPropertyReferenceOperation { Property.IsIndexer: true, Instance: { } list } => IsOfObject(list, type),
        _ => false,
    };

    private bool IsOfObject(IOperation target, INamedTypeSymbol type) =>
        target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation, Member: var member }
        && _known.Owning.Owns(type, member);
}

namespace Allocator.Analyzers.Summaries;

/// <summary>Objects that own: what their constructor makes is theirs, and what it is given it takes over.</summary>
internal sealed partial class ResultOrigin
{
    private Origin OfCreation(IObjectCreationOperation creation, MethodBody body, IMethodSymbol method)
    {
        if (creation.Constructor is not { } constructor || !_known.Owning.IsBuffer(constructor.ContainingType))
        {
            return Origin.Unknown;
        }

        return OfConstruction(constructor, creation.Arguments, body, method);
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
        if (!_known.Owning.IsBuffer(type) || !_running.Add(definition))
        {
            return false;
        }

        MethodBody? body = _known.Bodies.Of(definition);
        bool isMade = (body is not null && body.Root.Descendants().Any(part => part switch
            {
                ISimpleAssignmentOperation assignment => IsOfObject(assignment.Target, type) && Certainty.IsCertain(assignment, body)
                    && OfValue(assignment.Value, body, definition).IsFresh,
                IInvocationOperation { TargetMethod: { MethodKind: MethodKind.Constructor } other } chained =>
                    OfConstruction(other, chained.Arguments, body, definition).IsFresh,
                _ => false,
            }))
            || _known.Owning.Initializers(definition).Any(value => OfValue(value, new MethodBody(value), definition).IsFresh)
            || (_known.Bodies.UnnamedBaseOf(definition) is { } parent && IsMadeBy(parent));
        _running.Remove(definition);
        return isMade && _known.Summaries.Of(definition) is Passing.Borrowed or Passing.Mentioned;
    }

    private bool IsOfObject(IOperation target, INamedTypeSymbol type) =>
        target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation, Member: var member }
        && _known.Owning.Owns(type, member);
}

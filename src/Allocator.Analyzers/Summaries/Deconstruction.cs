using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>An object that owns, taken apart by its own <c>Deconstruct</c> into memory of its buffers, and numbers.</summary>
internal static class Deconstruction
{
    /// <summary>
    /// Returns the method that takes an object apart into variables of this body; null if the value is a tuple, or another part of it
    /// than memory may be the buffer.
    /// </summary>
    public static IMethodSymbol? MethodOf(IDeconstructionAssignmentOperation deconstruction, KnownSymbols known)
    {
        if (deconstruction.Target.Strip() is not ITupleOperation { Elements: var targets }
            || deconstruction.Value.Type is not INamedTypeSymbol { IsTupleType: false } type || !known.Owning.IsOwning(type)
            || !targets.All(target => target.Strip() is IDiscardOperation
                || (target.Strip() is ILocalReferenceOperation { Local.RefKind: RefKind.None, Type: var kept } && IsPart(kept, known))))
        {
            return null;
        }

        IMethodSymbol[] own =
        [
            .. type.GetMembers("Deconstruct").OfType<IMethodSymbol>().Where(method => !method.IsStatic && method.Arity == 0
                && method.Parameters.Length == targets.Length),
        ];
        return own.Length == 1 && !MethodBodies.MayBeOverridden(own[0]) && known.Bodies.Of(own[0]) is { } body
            && own[0].Parameters.All(part => part.RefKind == RefKind.Out && IsPart(part.Type, known)
                && (!known.Types.IsMemory(part.Type) || IsOfBuffer(SummaryTable.DefinitionOf(part), body, known))) ? own[0] : null;
    }

    // Memory that the object does not own may be used after its disposal.
    private static bool IsOfBuffer(ISymbol part, MethodBody body, KnownSymbols known) => body.References(part).All(reference =>
        reference.Parent switch
        {
            ISimpleAssignmentOperation assignment when assignment.Target == reference => IsOfBuffer(assignment.Value, known),
            ITupleOperation tuple when Around(tuple) is { Value: var value } pairs && pairs.Target.Strip() == tuple =>
                value.Strip() is ITupleOperation { Elements: var values } && values.Length == tuple.Elements.Length
                    && IsOfBuffer(values[tuple.Elements.IndexOf(reference)], known),
            _ => true,
        });

    private static bool IsOfBuffer(IOperation view, KnownSymbols known) => view.Strip() switch
    {
        IMemberReferenceOperation { Instance: IInstanceReferenceOperation, Member: var member } =>
            known.Owning.Owns(member.ContainingType, member),
        IPropertyReferenceOperation { Instance: { } whole } property =>
            known.Members.IsKnown(property.Property) && IsOfBuffer(whole, known),
        IInvocationOperation { Instance: { } whole } call =>
            known.Members.IsView(call.TargetMethod) && IsOfBuffer(whole, known),
        _ => false,
    };

    /// <summary>Returns the assignment that has the tuple on one of its sides, or null.</summary>
    public static IDeconstructionAssignmentOperation? Around(ITupleOperation tuple)
    {
        IOperation? whole = tuple.Parent;
        while (whole is IConversionOperation or IDeclarationExpressionOperation)
        {
            whole = whole.Parent;
        }

        return whole as IDeconstructionAssignmentOperation;
    }

    /// <summary>Returns what a part of the value becomes in <c>(a, b) = (x, y)</c>, or null.</summary>
    public static IOperation? TargetOf(IOperation part, IDeconstructionAssignmentOperation pairs) =>
        pairs.Value.Strip() is ITupleOperation { Elements: var values } tuple && part.Parent == tuple
        && pairs.Target.Strip() is ITupleOperation { Elements: var targets } && targets.Length == values.Length
        ? targets[values.IndexOf(part)].Strip() : null;

    private static bool IsPart(ITypeSymbol? type, KnownSymbols known) => known.Types.IsMemory(type) || !known.Types.CanShow(type);
}

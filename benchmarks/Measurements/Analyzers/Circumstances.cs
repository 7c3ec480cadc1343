using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Measurements.Analyzers;

/// <summary>What an owner goes through in its member, the first that applies: why the analyzer may have nothing to say.</summary>
internal enum Circumstance
{
    Plain,

    Captured,

    /// <summary>It, or its memory, is passed to a method that does not say that it borrows.</summary>
    Passed,

    Stored,

    Pinned,

    OnlyMeasured,
}

/// <summary>Looks at all references to an owner, to say afterwards what a miss is due to.</summary>
internal static class Circumstances
{
    public static Circumstance Of(ISymbol owner, SyntaxNode scope, SemanticModel model)
    {
        List<IOperation> references =
        [
            .. scope.DescendantNodes().Select(node => model.GetOperation(node)).OfType<ILocalReferenceOperation>()
                .Where(reference => SymbolEqualityComparer.Default.Equals(reference.Local, owner)).Distinct(),
        ];
        if (references.Any(IsInFunction))
        {
            return Circumstance.Captured;
        }

        List<Circumstance> all = [.. references.Select(OfReference)];
        return all.Contains(Circumstance.Passed) ? Circumstance.Passed
            : all.Contains(Circumstance.Stored) ? Circumstance.Stored
            : all.Contains(Circumstance.Pinned) ? Circumstance.Pinned
            : all.Count > 0 && all.All(circumstance => circumstance == Circumstance.OnlyMeasured) ? Circumstance.OnlyMeasured
            : Circumstance.Plain;
    }

    private static bool IsInFunction(IOperation reference)
    {
        for (IOperation? operation = reference; operation is not null; operation = operation.Parent)
        {
            if (operation is IAnonymousFunctionOperation or ILocalFunctionOperation)
            {
                ISymbol function = operation is ILocalFunctionOperation local ? local.Symbol : ((IAnonymousFunctionOperation)operation).Symbol;
                return !SymbolEqualityComparer.Default.Equals(((ILocalReferenceOperation)reference).Local.ContainingSymbol, function);
            }
        }

        return false;
    }

    private static Circumstance OfReference(IOperation reference)
    {
        IOperation value = reference;
        while (value.Parent is IConversionOperation || (value.Parent is IPropertyReferenceOperation property && property.Instance == value && IsMemory(property.Type)))
        {
            value = value.Parent;
        }

        return value.Parent switch
        {
            IArgumentOperation { Parameter: { } parameter } when !IsBorrowed(parameter) => Circumstance.Passed,
            IReturnOperation or IObjectOrCollectionInitializerOperation or IArrayInitializerOperation or ITupleOperation => Circumstance.Stored,
            ISimpleAssignmentOperation { Target: IMemberReferenceOperation } => Circumstance.Stored,
            IInvocationOperation { TargetMethod.Name: "Pin" } => Circumstance.Pinned,
            IPropertyReferenceOperation { Type: { SpecialType: not SpecialType.None } } => Circumstance.OnlyMeasured,
            _ => Circumstance.Plain,
        };
    }

    private static bool IsMemory(ITypeSymbol? type) => type is { Name: "Memory" or "ReadOnlyMemory", ContainingNamespace.Name: "System" };

    private static bool IsBorrowed(IParameterSymbol parameter) =>
        parameter.OriginalDefinition.GetAttributes().Any(attribute => attribute.AttributeClass?.Name == "BorrowedAttribute");
}

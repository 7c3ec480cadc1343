using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Operations;
using Microsoft.CodeAnalysis;

namespace Measurements.Analyzers;

/// <summary>A variable that a <c>using</c> disposes, and that a factory of the allocator gave.</summary>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer)
{
    public StatementSyntax Using => (StatementSyntax)Variable.Parent!.Parent!;

    public string Name => Variable.Identifier.ValueText;

    public MemberDeclarationSyntax Member => Variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!;
}

/// <summary>
/// Finds the <c>using</c> variables of a project whose value comes straight from a factory that carries <c>[return: OwnedBuffer]</c>.
/// </summary>
internal static class OwnedLocals
{
    public static IEnumerable<OwnedLocal> In(CorpusProject project)
    {
        foreach (SyntaxTree tree in project.Compilation.SyntaxTrees.Where(CorpusProject.IsWritten))
        {
            SemanticModel model = project.Compilation.GetSemanticModel(tree);
            foreach (VariableDeclaratorSyntax variable in tree.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>())
            {
                if (IsInUsing(variable) && FactoryOf(variable, model) is { } factory && model.GetDeclaredSymbol(variable) is ILocalSymbol symbol)
                {
                    yield return new OwnedLocal(variable, symbol, factory.ReturnType.Name != "MemoryAllocator");
                }
            }
        }
    }

    private static bool IsInUsing(VariableDeclaratorSyntax variable) =>
        variable.Parent is VariableDeclarationSyntax { Variables.Count: 1 } declaration
        && (declaration.Parent is LocalDeclarationStatementSyntax local && local.UsingKeyword.IsKind(SyntaxKind.UsingKeyword)
            || declaration.Parent is UsingStatementSyntax);

    // Looked up here without the analyzer's own code: what is not recognized there must show as a miss.
    private static IMethodSymbol? FactoryOf(VariableDeclaratorSyntax variable, SemanticModel model)
    {
        ExpressionSyntax? value = variable.Initializer?.Value;
        while (value is ParenthesizedExpressionSyntax or AwaitExpressionSyntax or CastExpressionSyntax)
        {
            value = value switch
            {
                ParenthesizedExpressionSyntax parentheses => parentheses.Expression,
                AwaitExpressionSyntax awaiting => awaiting.Expression,
                _ => ((CastExpressionSyntax)value).Expression,
            };
        }

        return value is InvocationExpressionSyntax && model.GetSymbolInfo(value).Symbol is IMethodSymbol method && IsMarked(method) ? method : null;
    }

    private static bool IsMarked(IMethodSymbol method)
    {
        for (IMethodSymbol? current = method; current is not null; current = current.OverriddenMethod)
        {
            if (current.OriginalDefinition.GetReturnTypeAttributes().Any(attribute => attribute.AttributeClass?.Name == "OwnedBufferAttribute"))
            {
                return true;
            }
        }

        return false;
    }
}

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

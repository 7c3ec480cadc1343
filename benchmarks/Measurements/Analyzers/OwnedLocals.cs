using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>A variable that a <c>using</c> disposes, and that a factory of the allocator gave.</summary>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer)
{
    public StatementSyntax Using => (StatementSyntax)Variable.Parent!.Parent!;

    public string Name => Variable.Identifier.ValueText;

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
                if (
                    IsInUsing(variable) && FactoryOf(
                        variable, model) is { } factory && model.GetDeclaredSymbol(variable) is ILocalSymbol symbol)
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

        return value is InvocationExpressionSyntax && model.GetSymbolInfo(value).Symbol is IMethodSymbol method && IsMarked(method)
            ? method
            : null;
    }

    private static bool IsMarked(IMethodSymbol method)
    {
        for (IMethodSymbol? current = method; current is not null; current = current.OverriddenMethod)
        {
            if (
                current.OriginalDefinition.GetReturnTypeAttributes().Any(
                    attribute => attribute.AttributeClass?.Name == "OwnedBufferAttribute"))
            {
                return true;
            }
        }

        return false;
    }
}

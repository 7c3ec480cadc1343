using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>A variable that has an owner of the allocator.</summary>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer)
{
    public StatementSyntax Declaration => (StatementSyntax)Variable.Parent!.Parent!;

    public string Name => Variable.Identifier.ValueText;

    public bool IsInUsing => Declaration is UsingStatementSyntax or LocalDeclarationStatementSyntax { UsingKeyword.RawKind: not 0 };
}

/// <summary>
/// Finds the variables of a project that are declared with an owner: by their type, whatever gives the value, so that what the analyzer
/// does not recognize shows as a miss.
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
                if (variable.Parent is VariableDeclarationSyntax { Variables.Count: 1, Parent: StatementSyntax }
                    && IsCall(variable.Initializer?.Value)
                    && model.GetDeclaredSymbol(variable) is ILocalSymbol { Type: var type } symbol
                    && IsOwner(type))
                {
                    yield return new OwnedLocal(variable, symbol, !IsAllocator(type));
                }
            }
        }
    }

    private static bool IsCall(ExpressionSyntax? value) => value switch
    {
        ParenthesizedExpressionSyntax parentheses => IsCall(parentheses.Expression),
        AwaitExpressionSyntax awaiting => IsCall(awaiting.Expression),
        CastExpressionSyntax cast => IsCall(cast.Expression),
        _ => value is InvocationExpressionSyntax,
    };

    private static bool IsOwner(ITypeSymbol type) =>
        IsOfLibrary(type)
            ? type.Name is "PixelBuffer" or "MemoryGroup" or "MemoryLease" or "PooledMemoryStream" or "NativePixels"
                or "NativeAllocationCallbacks" || IsAllocator(type)
            : type is { Name: "IMemoryOwner", ContainingNamespace.Name: "Buffers" };

    private static bool IsAllocator(ITypeSymbol type) => IsOfLibrary(type) && type.Name is "MemoryAllocator" or "MemoryReservation";

    private static bool IsOfLibrary(ITypeSymbol type) =>
        type.ContainingNamespace is { Name: "Allocator", ContainingNamespace.IsGlobalNamespace: true };
}

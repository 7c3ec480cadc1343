using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>A variable that has an owner of the allocator, or an object that owns such.</summary>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
/// <param name="IsOfProject">Whether it is of a class of the project itself, that keeps an owner in a field.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer, bool IsOfProject)
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
    private const int DeepestField = 4;

    public static IEnumerable<OwnedLocal> In(CorpusProject project)
    {
        foreach (SyntaxTree tree in project.Compilation.SyntaxTrees.Where(CorpusProject.IsWritten))
        {
            SemanticModel model = project.Compilation.GetSemanticModel(tree);
            foreach (VariableDeclaratorSyntax variable in tree.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>())
            {
                if (variable.Parent is VariableDeclarationSyntax { Variables.Count: 1, Parent: StatementSyntax }
                    && model.GetDeclaredSymbol(variable) is ILocalSymbol { Type: var type } symbol)
                {
                    bool isOfProject = IsOwningClass(type);
                    if ((isOfProject || IsOwner(type)) && IsCall(variable.Initializer?.Value, orCreation: isOfProject))
                    {
                        yield return new OwnedLocal(variable, symbol, !IsAllocator(type), isOfProject);
                    }
                }
            }
        }
    }

    private static bool IsCall(ExpressionSyntax? value, bool orCreation) => value switch
    {
        ParenthesizedExpressionSyntax parentheses => IsCall(parentheses.Expression, orCreation),
        AwaitExpressionSyntax awaiting => IsCall(awaiting.Expression, orCreation),
        CastExpressionSyntax cast => IsCall(cast.Expression, orCreation),
        _ => value is InvocationExpressionSyntax || (orCreation && value is BaseObjectCreationExpressionSyntax),
    };

    // By its fields alone, so that it does not depend on what the analyzer makes of it.
    private static bool IsOwningClass(ITypeSymbol type, int depth = 0) =>
        type is INamedTypeSymbol { TypeKind: TypeKind.Class or TypeKind.Struct } && !IsOfLibrary(type) && type.Locations[0].IsInSource
        && type.GetMembers("Dispose").Length + (type.BaseType?.GetMembers("Dispose").Length ?? 0) > 0
        && FieldsOf(type).Any(field => IsOwned(field.Type, depth));

    private static bool IsOwned(ITypeSymbol type, int depth) => depth < DeepestField && (type switch
    {
        IArrayTypeSymbol array => IsOwned(array.ElementType, depth),
        INamedTypeSymbol { TypeArguments: { IsEmpty: false } arguments } when !IsOwner(type) && !type.Locations[0].IsInSource =>
            arguments.Any(argument => IsOwned(argument, depth)),
        _ => IsOwner(type) || IsOwningClass(type, depth + 1),
    });

    private static IEnumerable<IFieldSymbol> FieldsOf(ITypeSymbol type)
    {
        for (ITypeSymbol? current = type; current is { SpecialType: SpecialType.None }; current = current.BaseType)
        {
            foreach (IFieldSymbol field in current.GetMembers().OfType<IFieldSymbol>())
            {
                yield return field;
            }
        }
    }

    private static bool IsOwner(ITypeSymbol type) =>
        IsOfLibrary(type)
            ? type.Name is "PixelBuffer" or "MemoryGroup" or "MemoryLease" or "PooledMemoryStream" or "NativePixels"
                or "NativeAllocationCallbacks" || IsAllocator(type)
            : type is { Name: "IMemoryOwner", ContainingNamespace.Name: "Buffers" };

    private static bool IsAllocator(ITypeSymbol type) => IsOfLibrary(type) && type.Name is "MemoryAllocator" or "MemoryReservation";

    private static bool IsOfLibrary(ITypeSymbol type) =>
        type.ContainingNamespace is { Name: "Allocator", ContainingNamespace.IsGlobalNamespace: true };
}

using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace AnalyzerReach.Mutations;

/// <summary>A variable that a <c>using</c> disposes, and that a factory of the allocator gave.</summary>
/// <param name="Variable">Its declarator.</param>
/// <param name="Symbol">Its symbol.</param>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer)
{
    /// <summary>Gets the <c>using</c>, a declaration or a statement with a block.</summary>
    public StatementSyntax Using => (StatementSyntax)Variable.Parent!.Parent!;

    public string Name => Variable.Identifier.ValueText;

    /// <summary>Gets the member in which it lives.</summary>
    public MemberDeclarationSyntax Member => Variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!;
}

using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>A variable that a <c>using</c> disposes, and that a factory of the allocator gave.</summary>
/// <param name="IsBuffer">Whether it owns memory; an allocator does not.</param>
internal sealed record OwnedLocal(VariableDeclaratorSyntax Variable, ILocalSymbol Symbol, bool IsBuffer)
{
    public StatementSyntax Using => (StatementSyntax)Variable.Parent!.Parent!;

    public string Name => Variable.Identifier.ValueText;

    public MemberDeclarationSyntax Member => Variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!;
}

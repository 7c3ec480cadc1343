using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>Takes one <c>using</c> away: the mistake that no test shows.</summary>
internal static class UsingRemoval
{
    public static SyntaxTree Apply(OwnedLocal local)
    {
        SyntaxNode root = local.Using.SyntaxTree.GetRoot();
        StatementSyntax replacement = local.Using switch
        {
            LocalDeclarationStatementSyntax declaration => WithoutKeyword(declaration),
            UsingStatementSyntax statement => SyntaxFactory.Block(
                SyntaxFactory.LocalDeclarationStatement(statement.Declaration!.WithoutTrivia()).NormalizeWhitespace(), statement.Statement),
            _ => local.Using,
        };
        return root.SyntaxTree.WithRootAndOptions(root.ReplaceNode(local.Using, replacement), root.SyntaxTree.Options);
    }

    private static LocalDeclarationStatementSyntax WithoutKeyword(LocalDeclarationStatementSyntax declaration) =>
        declaration.WithAwaitKeyword(default).WithUsingKeyword(default).WithLeadingTrivia(declaration.GetLeadingTrivia());
}

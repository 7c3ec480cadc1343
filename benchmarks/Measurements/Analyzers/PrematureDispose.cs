using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>Disposes an owner just before the last statement that uses it or a view of it.</summary>
internal static class PrematureDispose
{
    /// <summary>Gives the last statement of the owner's scope that uses it, or null where none does.</summary>
    public static StatementSyntax? LastUse(OwnedLocal local, SemanticModel model)
    {
        HashSet<ISymbol> views = new(SymbolEqualityComparer.Default) { local.Symbol };
        StatementSyntax? last = null;
        foreach (StatementSyntax statement in Scope(local))
        {
            if (!Mentions(statement, views, model))
            {
                continue;
            }

            last = statement;
            if (statement is LocalDeclarationStatementSyntax declaration)
            {
                views.UnionWith(declaration.Declaration.Variables.Select(variable => model.GetDeclaredSymbol(variable)!).Where(IsView));
            }
        }

        return last is LocalFunctionStatementSyntax ? null : last;
    }

    public static SyntaxTree Apply(OwnedLocal local, StatementSyntax statement)
    {
        SyntaxNode root = statement.SyntaxTree.GetRoot();
        StatementSyntax call = SyntaxFactory.ParseStatement($"{local.Name}.Dispose();\n");
        return root.SyntaxTree.WithRootAndOptions(root.InsertNodesBefore(statement, [call]), root.SyntaxTree.Options);
    }

    public static bool Mentions(SyntaxNode node, HashSet<ISymbol> symbols, SemanticModel model) =>
        node.DescendantNodesAndSelf().OfType<IdentifierNameSyntax>()
            .Any(name => model.GetSymbolInfo(name).Symbol is { } symbol && symbols.Contains(symbol));

    private static IEnumerable<StatementSyntax> Scope(OwnedLocal local) => local.Using switch
    {
        UsingStatementSyntax { Statement: BlockSyntax block } => block.Statements,
        LocalDeclarationStatementSyntax { Parent: BlockSyntax block } declaration => block.Statements.SkipWhile(statement => statement != declaration).Skip(1),
        LocalDeclarationStatementSyntax { Parent: SwitchSectionSyntax section } declaration => section.Statements.SkipWhile(statement => statement != declaration).Skip(1),
        _ => [],
    };

    private static bool IsView(ISymbol symbol) =>
        symbol is ILocalSymbol { RefKind: not RefKind.None }
            or ILocalSymbol { Type: IPointerTypeSymbol or { IsRefLikeType: true } or { Name: "Memory" or "ReadOnlyMemory" } };
}

using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>Takes the calls away that dispose an owner.</summary>
internal static class StatementRemoval
{
    public static IReadOnlyList<ExpressionStatementSyntax> DisposalsOf(OwnedLocal local, SemanticModel model) =>
    [
        .. local.Declaration.Parent!.DescendantNodes().OfType<ExpressionStatementSyntax>().Where(statement =>
            statement.Expression is InvocationExpressionSyntax
            {
                Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Dispose", Expression: IdentifierNameSyntax name },
            }
            && SymbolEqualityComparer.Default.Equals(model.GetSymbolInfo(name).Symbol, local.Symbol)),
    ];

    public static SyntaxTree Apply(OwnedLocal local, IReadOnlyList<ExpressionStatementSyntax> calls)
    {
        SyntaxNode root = local.Variable.SyntaxTree.GetRoot();
        SyntaxNode changed = root.ReplaceNodes(calls, (call, _) => SyntaxFactory.EmptyStatement().WithTriviaFrom(call));
        return root.SyntaxTree.WithRootAndOptions(changed, root.SyntaxTree.Options);
    }
}

/// <summary>Begins an operation on a buffer, and does not wait for its end.</summary>
internal static class AwaitRemoval
{
    /// <summary>Gives the first statement in the scope of the owner that awaits a call which is given it or its memory.</summary>
    public static ExpressionStatementSyntax? In(OwnedLocal local, SemanticModel model)
    {
        HashSet<ISymbol> owner = new(SymbolEqualityComparer.Default) { local.Symbol };
        return local.Declaration.Parent!.DescendantNodes().OfType<ExpressionStatementSyntax>().FirstOrDefault(statement =>
            statement.Expression is AwaitExpressionSyntax { Expression: InvocationExpressionSyntax call }
            && call.ArgumentList.Arguments.Any(argument => PrematureDispose.Mentions(argument, owner, model)));
    }

    public static SyntaxTree Apply(OwnedLocal local, ExpressionStatementSyntax awaiting)
    {
        SyntaxNode root = local.Variable.SyntaxTree.GetRoot();
        ExpressionSyntax call = ((AwaitExpressionSyntax)awaiting.Expression).Expression;
        StatementSyntax begun = SyntaxFactory.ParseStatement($"_ = {call};").WithTriviaFrom(awaiting);
        return root.SyntaxTree.WithRootAndOptions(root.ReplaceNode(awaiting, begun), root.SyntaxTree.Options);
    }
}

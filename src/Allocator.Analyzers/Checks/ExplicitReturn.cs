using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Checks;

/// <summary>Finds the <c>return</c> statement that ends a block, because the graph has only the returned value.</summary>
internal static class ExplicitReturn
{
    /// <summary>Returns the statement whose value is in <paramref name="node"/>, unless it is the last one of its method.</summary>
    public static ReturnStatementSyntax? Of(SyntaxNode node)
    {
        while (node is ParenthesizedExpressionSyntax or AwaitExpressionSyntax)
        {
            node = node.Parent!;
        }

        return node is ReturnStatementSyntax statement && IsEarly(statement) ? statement : null;
    }

    /// <summary>Returns the statement without a value that ends a block, or null.</summary>
    public static ReturnStatementSyntax? Behind(BasicBlock block)
    {
        IOperation? last = block.Statements().LastOrDefault();
        StatementSyntax? statement = last?.Syntax.FirstAncestorOrSelf<StatementSyntax>();
        if (last is not null && last == block.BranchValue)
        {
            // It has no block of its own if it is the only statement of an `if`.
            return statement is IfStatementSyntax choice && choice.Condition.Span.Contains(last.Syntax.Span)
                ? First(choice.Statement) : null;
        }

        return statement?.Parent is BlockSyntax list && list.Statements.IndexOf(statement) is >= 0 and var index
            && index + 1 < list.Statements.Count ? First(list.Statements[index + 1]) : null;
    }

    private static ReturnStatementSyntax? First(StatementSyntax statement) => statement switch
    {
        ReturnStatementSyntax { Expression: null } found when IsEarly(found) => found,
        BlockSyntax { Statements: { Count: > 0 } statements } => First(statements[0]),
        _ => null,
    };

    private static bool IsEarly(ReturnStatementSyntax statement) =>
        statement.Parent is not BlockSyntax { Parent: not StatementSyntax and not ElseClauseSyntax } list
        || list.Statements.Last() != statement;
}

namespace Allocator.Analyzers.Graph;

/// <summary>Distinguishes statements that run in each round of their loop from those that may run in one round only.</summary>
internal static class LoopRound
{
    /// <summary>Returns whether a statement runs again, by its place or by a condition on the very variable that it assigns.</summary>
    public static bool Repeats(SyntaxNode statement, ILocalSymbol variable)
    {
        SyntaxNode child = statement;
        for (SyntaxNode? parent = statement.Parent; parent is not null; child = parent, parent = parent.Parent)
        {
            switch (parent)
            {
                case WhileStatementSyntax or DoStatementSyntax or ForStatementSyntax or CommonForEachStatementSyntax:
                    return !IsSkipped(statement, child);
                case IfStatementSyntax choice when child == choice.Condition || Mentions(choice.Condition, variable):
                    break;
                case BlockSyntax or ExpressionStatementSyntax or ExpressionSyntax and not (ConditionalExpressionSyntax
                    or SwitchExpressionSyntax or AnonymousFunctionExpressionSyntax):
                case UsingStatementSyntax or LockStatementSyntax or CheckedStatementSyntax or TryStatementSyntax or ElseClauseSyntax:
                case FixedStatementSyntax or UnsafeStatementSyntax:
                    break;
                default:
                    return false;
            }
        }

        return false;
    }

    private static bool IsSkipped(SyntaxNode statement, SyntaxNode body) => body.DescendantNodes().Any(
        node => node is ContinueStatementSyntax or GotoStatementSyntax && node.SpanStart < statement.SpanStart);

    private static bool Mentions(ExpressionSyntax condition, ILocalSymbol variable) => condition.DescendantNodesAndSelf()
        .Any(node => node is IdentifierNameSyntax name && name.Identifier.ValueText == variable.Name);
}

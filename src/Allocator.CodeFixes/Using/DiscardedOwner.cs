namespace Allocator.CodeFixes.Using;

/// <summary>An owner that a statement allocates and drops, as in <c>_ = allocator.Allocate&lt;byte&gt;(n);</c>.</summary>
internal static class DiscardedOwner
{
    /// <summary>Returns the statement, or the expression behind an arrow, that can become a declaration; or null.</summary>
    public static SyntaxNode? PlaceThatDrops(ExpressionSyntax owner, SourceFile source)
    {
        SyntaxNode value = owner;
        if (AllocatedOwner.WithParentheses(owner).Parent is AssignmentExpressionSyntax
            {
                Left: IdentifierNameSyntax { Identifier.ValueText: "_" } discard,
            } assignment
            && source.SymbolOf(discard) is IDiscardSymbol)
        {
            value = assignment;
        }

        SyntaxNode? place = value.Parent switch
        {
            ExpressionStatementSyntax { ContainsDirectives: false } statement => statement,
            ArrowExpressionClauseSyntax or LambdaExpressionSyntax
                when value is ExpressionSyntax body && !new BodyBraces(body, source).IsReturned => value,
            _ => null,
        };
        return place is not null && UsingScope.Allows(place, source) ? place : null;
    }
}

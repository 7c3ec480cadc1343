using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Allocator.CodeFixes.Using;

/// <summary>An owner that a statement allocates and drops, as in <c>_ = allocator.Allocate&lt;byte&gt;(n);</c>.</summary>
internal static class DiscardedOwner
{
    /// <summary>Returns the statement that can become a declaration with <c>using</c>, or null.</summary>
    public static ExpressionStatementSyntax? StatementThatDrops(ExpressionSyntax owner, SourceFile source)
    {
        SyntaxNode value = AllocatedOwner.WithParentheses(owner);
        if (value.Parent is AssignmentExpressionSyntax { Left: IdentifierNameSyntax { Identifier.ValueText: "_" } discard } assignment
            && source.SymbolOf(discard) is IDiscardSymbol)
        {
            value = assignment;
        }

        return value == owner || value is AssignmentExpressionSyntax
            ? value.Parent is ExpressionStatementSyntax { ContainsDirectives: false } statement && UsingScope.Allows(statement, source)
                ? statement : null
            : null;
    }
}

using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Allocator.CodeFixes.Using;

/// <summary>An owner that no variable holds, as in <c>allocator.Allocate&lt;byte&gt;(n).Memory.Span</c>.</summary>
internal static class TemporaryOwner
{
    /// <summary>Returns the statement before which the owner can be declared and nothing else changes, or null.</summary>
    public static StatementSyntax? StatementThatUses(ExpressionSyntax owner, SourceFile source)
    {
        SyntaxNode node = AllocatedOwner.WithParentheses(owner);
        if (!IsUsedInPlace(node))
        {
            return null;
        }

        while (IsPartOfAStatement(node.Parent))
        {
            if (!IsAlwaysEvaluated(node) || FollowsAnEffect(node, source))
            {
                return null;
            }

            node = node.Parent!;
        }

        return node.Parent is StatementSyntax { ContainsDirectives: false } statement
            && IsEvaluatedOnce(node, statement)
            && UsingScope.Allows(statement, source)
            ? statement
            : null;
    }

    private static bool IsPartOfAStatement(SyntaxNode? node) => node
        is ExpressionSyntax
        or ArgumentSyntax
        or BaseArgumentListSyntax
        or EqualsValueClauseSyntax
        or VariableDeclaratorSyntax
        or VariableDeclarationSyntax;

    private static bool IsUsedInPlace(SyntaxNode owner) => owner.Parent switch
    {
        MemberAccessExpressionSyntax or ElementAccessExpressionSyntax or ArgumentSyntax => true,
        ConditionalAccessExpressionSyntax access => access.Expression == owner,
        CommonForEachStatementSyntax loop => loop.Expression == owner,
        _ => false,
    };

    private static bool IsAlwaysEvaluated(SyntaxNode node) => node.Parent switch
    {
        AnonymousFunctionExpressionSyntax or QueryExpressionSyntax => false,
        ConditionalExpressionSyntax conditional => conditional.Condition == node,
        ConditionalAccessExpressionSyntax access => access.Expression == node,
        BinaryExpressionSyntax binary => binary.Left == node
            || binary.Kind() is not (SyntaxKind.LogicalAndExpression or SyntaxKind.LogicalOrExpression or SyntaxKind.CoalesceExpression),
        AssignmentExpressionSyntax assignment => assignment.Left == node || !assignment.IsKind(SyntaxKind.CoalesceAssignmentExpression),
        _ => true,
    };

    private static bool IsEvaluatedOnce(SyntaxNode node, StatementSyntax statement) => statement switch
    {
        LocalDeclarationStatementSyntax or ExpressionStatementSyntax or ReturnStatementSyntax => true,
        IfStatementSyntax or SwitchStatementSyntax or FixedStatementSyntax or UsingStatementSyntax => true,
        CommonForEachStatementSyntax loop => loop.Expression == node,
        _ => false,
    };

    // The owner would be allocated before what now comes first in its statement: that must not show.
    private static bool FollowsAnEffect(SyntaxNode node, SourceFile source) =>
        node.Parent!.ChildNodes().TakeWhile(sibling => sibling != node).SelectMany(sibling => sibling.DescendantNodesAndSelf())
            .Any(before => HasEffect(before) || (before is InvocationExpressionSyntax call && !AllocatedOwner.IsMadeBy(call, source)));

    private static bool HasEffect(SyntaxNode node) => node
        is BaseObjectCreationExpressionSyntax
        or AssignmentExpressionSyntax
        or AwaitExpressionSyntax
        or PostfixUnaryExpressionSyntax
        or DeclarationPatternSyntax
        or VarPatternSyntax
        or VariableDeclaratorSyntax
        or PrefixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.PreIncrementExpression or (int)SyntaxKind.PreDecrementExpression };
}

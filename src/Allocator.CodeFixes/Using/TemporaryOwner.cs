using Allocator.Analyzers.Symbols;

namespace Allocator.CodeFixes.Using;

/// <summary>An owner that no variable holds, as in <c>allocator.Allocate&lt;byte&gt;(n).Memory.Span</c>.</summary>
internal static class TemporaryOwner
{
    /// <summary>
    /// Returns the statement or arrow expression before which the owner can be declared without changing anything else; null if none.
    /// </summary>
    public static SyntaxNode? PlaceThatUses(ExpressionSyntax owner, SourceFile source)
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

        SyntaxNode? place = node.Parent switch
        {
            StatementSyntax { ContainsDirectives: false } statement when IsEvaluatedOnce(node, statement) => statement,
            ArrowExpressionClauseSyntax or LambdaExpressionSyntax => node,
            _ => null,
        };
        return place is not null && UsingScope.Allows(place, source) && !IsValueOfATask(place, source) ? place : null;
    }

    /// <summary>
    /// Returns the other owners below <paramref name="place"/> whose views alone are used: if one of them is unsafe, all are.
    /// </summary>
    public static IEnumerable<ExpressionSyntax> Beside(ExpressionSyntax owner, SyntaxNode place, SourceFile source) =>
        from call in place.DescendantNodesAndSelf(node =>
            node == place || node is not (StatementSyntax or AnonymousFunctionExpressionSyntax)).OfType<InvocationExpressionSyntax>()
        where AllocatedOwner.IsMadeBy(call, source)
        let other = AllocatedOwner.Awaited(call)
        where other != owner && !owner.Span.Contains(other.Span) && IsOnlyViewed(other, source)
        select other;

    private static bool IsOnlyViewed(ExpressionSyntax owner, SourceFile source)
    {
        SyntaxNode node = AllocatedOwner.WithParentheses(owner);
        while (node.Parent is MemberAccessExpressionSyntax member && member.Expression == node)
        {
            if (KnownTypes.IsRaw(source.TypeOf(member)))
            {
                return true;
            }

            node = member;
        }

        return false;
    }

    // Code that goes on after the function has returned may use the owner.
    private static bool IsValueOfATask(SyntaxNode place, SourceFile source) =>
        place is ReturnStatementSyntax or ExpressionSyntax
        && source.FunctionAround(place) is { IsAsync: false } function
        && Awaiting.Tasks.Is(function.ReturnType);

    private static bool IsPartOfAStatement(SyntaxNode? node) => node
        is (ExpressionSyntax and not AnonymousFunctionExpressionSyntax)
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
        QueryExpressionSyntax => false,
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

    // The owner would be allocated before the first part of its statement: no code must be able to tell.
    private static bool FollowsAnEffect(SyntaxNode node, SourceFile source) =>
        node.Parent!.ChildNodes().TakeWhile(sibling => sibling != node).SelectMany(sibling => sibling.DescendantNodesAndSelf())
            .Any(before => before switch
            {
                InvocationExpressionSyntax call => !MakesAnOwner(call, source),
                AwaitExpressionSyntax awaited => AllocatedOwner.Call(awaited) is not { } call || !MakesAnOwner(call, source),
                _ => HasEffect(before),
            });

    private static bool MakesAnOwner(InvocationExpressionSyntax call, SourceFile source) =>
        AllocatedOwner.IsMadeBy(call, source)
        || (AllocatedOwner.Call(call) is { } configured && configured != call && AllocatedOwner.IsMadeBy(configured, source));

    private static bool HasEffect(SyntaxNode node) => node
        is BaseObjectCreationExpressionSyntax
        or AssignmentExpressionSyntax
        or PostfixUnaryExpressionSyntax
        or DeclarationPatternSyntax
        or VarPatternSyntax
        or VariableDeclaratorSyntax
        or PrefixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.PreIncrementExpression or (int)SyntaxKind.PreDecrementExpression };
}

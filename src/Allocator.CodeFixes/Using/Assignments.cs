namespace Allocator.CodeFixes.Using;

/// <summary>What is written to, by name or by reference.</summary>
internal static class Assignments
{
    /// <summary>
    /// Gets whether <paramref name="local"/> is changed in <paramref name="scope"/>, as no <c>using</c> variable can be.
    /// </summary>
    public static bool ChangeVariable(ILocalSymbol local, SyntaxNode scope, SourceFile source) =>
        scope.DescendantNodes().OfType<IdentifierNameSyntax>().Any(name =>
            name.Identifier.ValueText == local.Name
            && Change(local, name)
            && SymbolEqualityComparer.Default.Equals(source.SymbolOf(name), local));

    /// <summary>Gets whether <paramref name="local"/> is changed by what is done with <paramref name="name"/>, one of its uses.</summary>
    public static bool Change(ILocalSymbol local, IdentifierNameSyntax name)
        => IsTarget(name) || (local.Type.IsValueType && IsChangedInside(name));

    // Members of a `using` variable of a value type cannot be set either.
    private static bool IsChangedInside(ExpressionSyntax part)
    {
        while (part.Parent is MemberAccessExpressionSyntax member && member.Expression == part)
        {
            part = member;
            if (IsTarget(part) || part.Parent?.Kind() is SyntaxKind.PostIncrementExpression or SyntaxKind.PostDecrementExpression
                or SyntaxKind.PreIncrementExpression or SyntaxKind.PreDecrementExpression)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Gets whether <paramref name="expression"/> is assigned to, or handed out as a reference through which it can be.</summary>
    public static bool IsTarget(ExpressionSyntax expression)
    {
        SyntaxNode target = expression;
        while (target.Parent is ParenthesizedExpressionSyntax or TupleExpressionSyntax or ArgumentSyntax { Parent: TupleExpressionSyntax })
        {
            target = target.Parent;
        }

        return target.Parent switch
        {
            AssignmentExpressionSyntax assignment => assignment.Left == target,
            ForEachVariableStatementSyntax loop => loop.Variable == target,
            ArgumentSyntax argument => argument.RefKindKeyword.Kind() is SyntaxKind.RefKeyword or SyntaxKind.OutKeyword,
            RefExpressionSyntax => true,
            PrefixUnaryExpressionSyntax prefix => prefix.IsKind(SyntaxKind.AddressOfExpression),
            _ => false,
        };
    }
}

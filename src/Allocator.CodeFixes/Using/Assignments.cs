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
            && IsTarget(name)
            && SymbolEqualityComparer.Default.Equals(source.SymbolOf(name), local));

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

namespace Allocator.Analyzers.Checks;

/// <summary>
/// Recognizes lambdas that allocate and do nothing else, as in <c>Assert.Throws(() => pool.Rent(-1))</c>: there the allocation fails.
/// </summary>
internal static class LambdaBody
{
    /// <summary>
    /// Returns whether <paramref name="call"/>, with its result dropped or put in a variable, is all that a lambda consists of.
    /// </summary>
    public static bool IsOnly(SyntaxNode call)
    {
        SyntaxNode? statement = call.Parent switch
        {
            AssignmentExpressionSyntax assignment => assignment.Parent,
            EqualsValueClauseSyntax { Parent.Parent.Parent: LocalDeclarationStatementSyntax declaration } => declaration,
            var parent => parent,
        };
        return statement is AnonymousFunctionExpressionSyntax
            || (statement is StatementSyntax { Parent: BlockSyntax { Statements.Count: 1, Parent: AnonymousFunctionExpressionSyntax } });
    }
}

namespace Allocator.CodeFixes.Using;

/// <summary>The variable that holds an owner from its declaration on.</summary>
internal static class OwnerVariable
{
    /// <summary>Returns the variable of a declaration whose initial value is <paramref name="owner"/>, in all cases or in some.</summary>
    public static VariableDeclaratorSyntax? ThatHolds(ExpressionSyntax owner) =>
        owner.FirstAncestorOrSelf<VariableDeclaratorSyntax>() is { Parent.Parent: LocalDeclarationStatementSyntax } variable
        && variable.Initializer is { Value: var value }
        && Alternatives(value).Contains(owner)
            ? variable
            : null;

    /// <summary>
    /// Gets whether <paramref name="variable"/> can be declared with <c>using</c>, and that disposes what this method owns and nothing
    /// else.
    /// </summary>
    /// <param name="variable">A variable of a declaration, which may have others.</param>
    /// <param name="owner">The value of it that a diagnostic is about. It is owned, whatever makes it.</param>
    /// <param name="source">The file.</param>
    public static bool CanBeUsing(VariableDeclaratorSyntax variable, ExpressionSyntax owner, SourceFile source) =>
        variable.Parent!.Parent is LocalDeclarationStatementSyntax
        {
            UsingKeyword.RawKind: 0, Modifiers.Count: 0, Declaration: { Variables.Count: var count, Type: var type },
        } declaration
        && type is not (RefTypeSyntax or ScopedTypeSyntax)
        && (count == 1 || !declaration.ContainsDirectives)
        && source.DeclaredBy(variable) is ILocalSymbol local
        && Disposable.Is(local.Type)
        && Alternatives(variable.Initializer!.Value).All(value => value == owner || IsOwned(value, source))
        && UsingScope.Allows(declaration, source)
        && !Assignments.ChangeVariable(
            local, declaration.Parent is GlobalStatementSyntax { Parent: { } unit } ? unit : declaration.Parent!, source);

    // The expressions that may be the value of `value`.
    private static IEnumerable<ExpressionSyntax> Alternatives(ExpressionSyntax value) => value switch
    {
        ParenthesizedExpressionSyntax parenthesized => Alternatives(parenthesized.Expression),
        CastExpressionSyntax cast => Alternatives(cast.Expression),
        PostfixUnaryExpressionSyntax forgiven when forgiven.IsKind(SyntaxKind.SuppressNullableWarningExpression) =>
            Alternatives(forgiven.Operand),
        ConditionalExpressionSyntax conditional => Alternatives(conditional.WhenTrue).Concat(Alternatives(conditional.WhenFalse)),
        BinaryExpressionSyntax either when either.IsKind(SyntaxKind.CoalesceExpression) =>
            Alternatives(either.Left).Concat(Alternatives(either.Right)),
        SwitchExpressionSyntax choice => choice.Arms.SelectMany(arm => Alternatives(arm.Expression)),
        ConditionalAccessExpressionSyntax access => Alternatives(access.WhenNotNull),
        _ => new[] { value },
    };

    // `cached ?? allocator.Allocate(n)` may give an owner that others hold, which is not ours to dispose.
    private static bool IsOwned(ExpressionSyntax value, SourceFile source) =>
        value is ThrowExpressionSyntax
        || source.IsNull(value)
        || (AllocatedOwner.Call(value) is { } call && AllocatedOwner.IsMadeBy(call, source));
}

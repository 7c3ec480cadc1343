namespace Allocator.CodeFixes.Using;

/// <summary>The expression that makes an owner: the allocating call, with its <c>await</c> if there is one.</summary>
internal static class AllocatedOwner
{
    private const string ConfigureAwait = "ConfigureAwait";

    /// <summary>Returns where the owner that <paramref name="diagnostic"/> is about was allocated.</summary>
    public static Location Site(Diagnostic diagnostic) =>
        // A rule that reports a use also names the allocation.
        diagnostic.AdditionalLocations.Count > 0 ? diagnostic.AdditionalLocations[0] : diagnostic.Location;

    /// <summary>
    /// Returns the expression at the site of <paramref name="diagnostic"/>, or the object that takes over what that makes; or null if
    /// there is none.
    /// </summary>
    public static ExpressionSyntax? Of(Diagnostic diagnostic, SourceFile source)
    {
        ExpressionSyntax? owner = At(Site(diagnostic), source.Root);
        while (owner is not null && WithParentheses(owner).Parent is ArgumentSyntax
            { Parent.Parent: BaseObjectCreationExpressionSyntax outer } argument
            && source.TypeOf(outer) is { } type && Disposable.Is(type) && source.IsTakenOver(argument))
        {
            owner = outer;
        }

        return owner;
    }

    private static ExpressionSyntax? At(Location site, SyntaxNode root)
    {
        if (site.SourceTree != root.SyntaxTree)
        {
            return null;
        }

        SyntaxNode node = root.FindNode(site.SourceSpan, getInnermostNodeForTie: true);

        // An awaited owner includes its `await`, and the surrounding call may wrap it.
        if (node is AwaitExpressionSyntax or BaseObjectCreationExpressionSyntax)
        {
            return (ExpressionSyntax)node;
        }

        if (node is BinaryExpressionSyntax or PrefixUnaryExpressionSyntax)
        {
            // In the middle of an expression it would change the order in which the other parts are evaluated.
            return node.Parent is EqualsValueClauseSyntax ? (ExpressionSyntax)node : null;
        }

        // An owner that an `out` argument hands out has no declaration that could get a `using`.
        return node is ArgumentSyntax || node.FirstAncestorOrSelf<InvocationExpressionSyntax>() is not { } call ? null : Awaited(call);
    }

    /// <summary>Returns <paramref name="expression"/> with the parentheses around it.</summary>
    public static ExpressionSyntax WithParentheses(ExpressionSyntax expression)
    {
        while (expression.Parent is ParenthesizedExpressionSyntax outer)
        {
            expression = outer;
        }

        return expression;
    }

    /// <summary>Gets whether the caller owns what <paramref name="call"/> returns.</summary>
    public static bool IsMadeBy(InvocationExpressionSyntax call, SourceFile source) =>
        source.SymbolOf(call) is IMethodSymbol method && source.Known?.Factories.IsDeclared(method) == true;

    /// <summary>Returns the call that <paramref name="expression"/> awaits, or that it is, if any.</summary>
    public static InvocationExpressionSyntax? Call(ExpressionSyntax expression)
    {
        ExpressionSyntax task = expression is AwaitExpressionSyntax awaited ? awaited.Expression : expression;
        InvocationExpressionSyntax? call = task as InvocationExpressionSyntax;
        return call?.Expression is MemberAccessExpressionSyntax { Name.Identifier.ValueText: ConfigureAwait } configured
            ? configured.Expression as InvocationExpressionSyntax
            : call;
    }

    /// <summary>Returns <paramref name="call"/> with the <c>await</c> before it, if any.</summary>
    public static ExpressionSyntax Awaited(ExpressionSyntax call)
    {
        bool isConfigured = call.Parent is MemberAccessExpressionSyntax { Name.Identifier.ValueText: ConfigureAwait };
        SyntaxNode? task = isConfigured ? call.Parent!.Parent : call;
        return task?.Parent as AwaitExpressionSyntax ?? call;
    }
}

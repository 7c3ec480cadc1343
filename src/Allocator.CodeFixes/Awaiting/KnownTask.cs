namespace Allocator.CodeFixes.Awaiting;

/// <summary>Tasks that are made completed: an async method returns their result instead.</summary>
internal static class KnownTask
{
    /// <summary>Gets whether <paramref name="task"/> is <c>default</c>: a completed <c>ValueTask</c>, or no <c>Task</c> at all.</summary>
    public static bool IsDefault(ExpressionSyntax task) => task.IsKind(SyntaxKind.DefaultLiteralExpression);

    /// <summary>Gets whether <paramref name="task"/> is completed and has no result.</summary>
    public static bool IsCompleted(ExpressionSyntax task, SourceFile source) =>
        IsDefault(task)
        || (task is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "CompletedTask" } && IsOfTask(task, source));

    /// <summary>Returns the result that <paramref name="task"/> is made from, or null if it is not.</summary>
    public static ExpressionSyntax? Result(ExpressionSyntax task, SourceFile source) =>
        task is InvocationExpressionSyntax { ArgumentList.Arguments: { Count: 1 } arguments } call
        && call.Expression is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "FromResult" }
        && IsOfTask(task, source)
            ? arguments[0].Expression
            : null;

    private static bool IsOfTask(ExpressionSyntax task, SourceFile source) =>
        Tasks.Is(source.SymbolOf(task)?.ContainingType);
}

namespace Allocator.CodeFixes.Awaiting;

/// <summary>Distinguishes tasks that a method returns from those that it forgets: awaiting its result ends only the former.</summary>
internal static class ReturnedTask
{
    /// <summary>Returns whether the task of <paramref name="call"/> is returned, by itself or by its variable.</summary>
    public static bool IsReturnedBy(TaskMethod method, SyntaxNode call) =>
        method.Returns.Any(statement => statement.Span.Contains(call.Span))
        || (call.FirstAncestorOrSelf<VariableDeclaratorSyntax>() is { Identifier.ValueText: var name }
            && method.Returns.Any(statement => statement.Expression is IdentifierNameSyntax returned
                && returned.Identifier.ValueText == name));
}

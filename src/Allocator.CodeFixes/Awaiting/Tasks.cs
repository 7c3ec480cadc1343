namespace Allocator.CodeFixes.Awaiting;

/// <summary>The types that an async method returns.</summary>
internal static class Tasks
{
    /// <summary>Gets whether <paramref name="type"/> is <c>Task</c> or <c>ValueTask</c>, with a result or without.</summary>
    public static bool Is(ITypeSymbol? type) => type is { Name: "Task" or "ValueTask" } && IsOfTheBaseLibrary(type);

    /// <summary>Gets whether <paramref name="type"/> is a task that brings a result.</summary>
    public static bool HasResult(ITypeSymbol type) => type is INamedTypeSymbol { Arity: 1 };

    /// <summary>Gets whether <paramref name="type"/> is a <c>ValueTask</c>, with a result or without.</summary>
    public static bool IsValueTask(ITypeSymbol type) => type.Name == "ValueTask";

    private static bool IsOfTheBaseLibrary(ITypeSymbol type) => type.ContainingNamespace is
    {
        Name: "Tasks",
        ContainingNamespace: { Name: "Threading", ContainingNamespace: { Name: "System", ContainingNamespace.IsGlobalNamespace: true } },
    };
}

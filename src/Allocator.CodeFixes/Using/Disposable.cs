namespace Allocator.CodeFixes.Using;

/// <summary>Which variables can be declared with <c>using</c>.</summary>
internal static class Disposable
{
    /// <summary>Gets whether <paramref name="type"/> is disposable, by its interface or, as a ref struct, by its method.</summary>
    public static bool Is(ITypeSymbol type) =>
        !IsTask(type)
        && (IsInterface(type)
            || type.AllInterfaces.Any(IsInterface)
            || (type.IsRefLikeType && type.GetMembers("Dispose").OfType<IMethodSymbol>().Any(IsDisposal)));

    // A task is disposable too, but it is not the owner that it brings.
    private static bool IsTask(ITypeSymbol type) => type is { Name: "Task", ContainingNamespace.Name: "Tasks" };

    private static bool IsInterface(ITypeSymbol type) => type.SpecialType == SpecialType.System_IDisposable;

    private static bool IsDisposal(IMethodSymbol method) =>
        method is { DeclaredAccessibility: Accessibility.Public, IsStatic: false, ReturnsVoid: true, Parameters.IsEmpty: true };
}

namespace Allocator.CodeFixes;

/// <summary>The types that show memory and do not keep it: spans and other ref structs, and pointers.</summary>
internal static class Views
{
    /// <summary>Gets whether <paramref name="type"/> is one of them.</summary>
    public static bool Is(ITypeSymbol? type) => type is { IsRefLikeType: true } or IPointerTypeSymbol;
}

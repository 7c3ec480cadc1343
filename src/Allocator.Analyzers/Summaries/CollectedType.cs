namespace Allocator.Analyzers.Summaries;

/// <summary>Finds the item type of arrays and of the base library's collections.</summary>
internal static class CollectedType
{
    /// <summary>Returns the type of the items (for a dictionary: of the values), or null if the type is no collection.</summary>
    public static ITypeSymbol? ItemOf(ITypeSymbol? type) => type switch
    {
        IArrayTypeSymbol array => array.ElementType,
        INamedTypeSymbol { TypeArguments: { Length: > 0 } items, ContainingNamespace: { } space }
            when space.ToDisplayString().StartsWith("System.Collections", StringComparison.Ordinal) => items[items.Length - 1],
        _ => null,
    };

    /// <summary>Returns the loop whose variable a local is, or null.</summary>
    public static IForEachLoopOperation? LoopOver(ILocalSymbol local, MethodBody body) =>
        body.Root.Descendants().OfType<IForEachLoopOperation>().FirstOrDefault(
            loop => loop.Locals.Contains(local, SymbolEqualityComparer.Default));
}

namespace Allocator.Analyzers.Summaries;

/// <summary>Arrays and collections of the base library, by what they collect.</summary>
internal static class CollectedType
{
    /// <summary>Returns the type of the items: of a dictionary that of its values. Null where the type collects nothing.</summary>
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

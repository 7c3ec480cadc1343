namespace Allocator.Analyzers.Symbols;

/// <summary>Looks for an attribute among those of a symbol.</summary>
internal static class Attributes
{
    public static bool Contain(ImmutableArray<AttributeData> attributes, INamedTypeSymbol? attribute)
    {
        foreach (AttributeData candidate in attributes)
        {
            if (SymbolEqualityComparer.Default.Equals(candidate.AttributeClass, attribute))
            {
                return true;
            }
        }

        return false;
    }
}

using Microsoft.CodeAnalysis;

namespace Allocator.Analyzers.Symbols;

/// <summary>What the analyzer knows of a compilation, made once for it.</summary>
internal sealed class KnownSymbols
{
    private KnownSymbols(KnownTypes types)
    {
        Types = types;
        Members = new KnownMembers(types);
        Factories = new Factories(types);
    }

    public KnownTypes Types { get; }

    public KnownMembers Members { get; }

    public Factories Factories { get; }

    /// <summary>Resolves what is needed.</summary>
    /// <returns>Null where the compilation does not reference the allocator.</returns>
    public static KnownSymbols? Resolve(Compilation compilation) =>
        KnownTypes.Resolve(compilation) is { } types ? new KnownSymbols(types) : null;
}

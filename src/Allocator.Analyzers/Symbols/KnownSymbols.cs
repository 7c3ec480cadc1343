using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Symbols;

/// <summary>What the analyzer knows about a compilation; created once for each.</summary>
internal sealed class KnownSymbols
{
    private KnownSymbols(KnownTypes types, Compilation compilation)
    {
        Types = types;
        Members = new KnownMembers(types);
        Bodies = new MethodBodies(compilation);
        Owning = new OwningTypes(types, Bodies);
        Holders = new HolderTable(Bodies);
        Origins = new OriginTable(this);
        Factories = new Factories(this);
        Summaries = new SummaryTable(this);
        Passings = new Passings(this);
    }

    public KnownTypes Types { get; }

    public KnownMembers Members { get; }

    public MethodBodies Bodies { get; }

    public OwningTypes Owning { get; }

    public HolderTable Holders { get; }

    public OriginTable Origins { get; }

    public Factories Factories { get; }

    public SummaryTable Summaries { get; }

    public Passings Passings { get; }

    /// <summary>
    /// Returns whether values of the type point into memory that they do not keep: pointers, spans, and ref structs but those that own.
    /// </summary>
    public bool IsRaw(ITypeSymbol? type) => KnownTypes.IsRaw(type) && !Owning.IsOwning(type);

    /// <summary>Resolves the symbols.</summary>
    /// <returns>Null if the compilation does not reference the allocator.</returns>
    public static KnownSymbols? Resolve(Compilation compilation) =>
        KnownTypes.Resolve(compilation) is { } types ? new KnownSymbols(types, compilation) : null;
}

namespace Allocator.Analyzers.Summaries;

/// <summary>What a summary is about: a parameter, or the object of a method; if it only holds a buffer, the field too.</summary>
internal readonly struct Subject : IEquatable<Subject>
{
    public Subject(ISymbol symbol, Slot? slot)
    {
        Symbol = symbol;
        Slot = slot;
    }

    public ISymbol Symbol { get; }

    public Slot? Slot { get; }

    public bool Equals(Subject other) =>
        SymbolEqualityComparer.Default.Equals(Symbol, other.Symbol) && (Slot?.Equals(other.Slot) ?? other.Slot is null);

    public override bool Equals(object? obj) => obj is Subject other && Equals(other);

    public override int GetHashCode() => SymbolEqualityComparer.Default.GetHashCode(Symbol) ^ (Slot?.GetHashCode() ?? 0);
}

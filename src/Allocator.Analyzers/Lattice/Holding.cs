namespace Allocator.Analyzers.Lattice;

/// <summary>
/// What a value is backed by, one bit for each allocation of the body. <see cref="Own"/> and <see cref="Memory"/> keep the owner
/// reachable;
/// <see cref="Raw"/> (a span, ref or pointer) does not.
/// </summary>
internal readonly struct Holding
{
    public Holding(ulong own, ulong memory, ulong raw, ulong uncertain = 0, ulong held = 0)
    {
        Held = held;
        Own = own;
        Memory = memory;
        Raw = raw;
        Uncertain = uncertain;
    }

    public ulong Own { get; }

    public ulong Memory { get; }

    public ulong Raw { get; }

    /// <summary>Gets the owners that exist on some path on which this value does not hold them.</summary>
    public ulong Uncertain { get; }

    /// <summary>Gets the allocations that an object, lambda or task keeps, and that is not the buffer or its memory itself.</summary>
    public ulong Held { get; }

    /// <summary>Gets the allocations that the value is, or is the memory of.</summary>
    public ulong Direct => Own | Memory;

    /// <summary>Gets the allocations that the value keeps reachable.</summary>
    public ulong Keep => Own | Memory | Held;

    public ulong All => Own | Memory | Raw | Held;

    public static Holding operator |(Holding left, Holding right) => new(
        left.Own | right.Own,
        left.Memory | right.Memory,
        left.Raw | right.Raw,
        left.Uncertain | right.Uncertain | (left.Own ^ right.Own),
        left.Held | right.Held);

    public static Holding Holder(ulong sites) => new(0, 0, 0, 0, sites);

    /// <summary>Merges what a variable holds at the end of two paths, on which the given owners exist.</summary>
    public static Holding Join(Holding left, ulong existsLeft, Holding right, ulong existsRight) => new(
        left.Own | right.Own,
        left.Memory | right.Memory,
        left.Raw | right.Raw,
        left.Uncertain | right.Uncertain | (left.Own & ~right.Own & existsRight) | (right.Own & ~left.Own & existsLeft),
        left.Held | right.Held);

    public Holding Without(ulong sites) => new(Own & ~sites, Memory & ~sites, Raw & ~sites, Uncertain & ~sites, Held & ~sites);

    public Holding AsMemory() => new(0, Direct, 0);

    public Holding AsRaw() => new(0, 0, Direct | Raw);

    public Holding AsUncertain() => new(Own, Memory, Raw, Own, Held);

    public bool Is(Holding other) =>
        Own == other.Own && Memory == other.Memory && Raw == other.Raw && Uncertain == other.Uncertain && Held == other.Held;
}

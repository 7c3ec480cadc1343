using System.Numerics;
using System.Runtime.CompilerServices;

namespace Allocator.Lifetime;

/// <summary>
/// Finds the member that a row lies in, by a multiplication in place of a division. With m = ceil(2^(31+s) / d) and s = ceil(log2 d),
/// y·m / 2^(31+s) rounds down to y / d for every y below 2^31: the error, y/2^(31+s), stays below 1/d.
/// </summary>
internal readonly struct RowMap
{
    private readonly ulong _multiplier;
    private readonly int _shift;

    /// <summary>pre: at least 1.</summary>
    public RowMap(int rowsPerMember)
    {
        int s = 32 - (BitOperations.LeadingZeroCount((ulong)rowsPerMember - 1) - 32);
        _shift = 31 + s;
        _multiplier = ((1UL << _shift) + (uint)rowsPerMember - 1) / (uint)rowsPerMember;
    }

    /// <summary>Gives the member; 0 for all rows where there is no map. pre: y is not negative.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public nint Find(int y) => (nint)((uint)y * _multiplier >> _shift);
}

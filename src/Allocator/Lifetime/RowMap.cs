using System.Diagnostics;
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

    public RowMap(int rowsPerMember)
    {
        Debug.Assert(rowsPerMember >= 1);
        int s = 32 - (BitOperations.LeadingZeroCount((ulong)rowsPerMember - 1) - 32);
        _shift = 31 + s;
        _multiplier = ((1UL << _shift) + (uint)rowsPerMember - 1) / (uint)rowsPerMember;
    }

    /// <summary>Returns the member of a row, which is not negative; 0 for all rows where there is no map.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public nint Find(int y) => (nint)((uint)y * _multiplier >> _shift);
}

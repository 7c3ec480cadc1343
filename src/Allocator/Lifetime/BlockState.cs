using System.Runtime.InteropServices;

namespace Allocator.Lifetime;

/// <summary>
/// What changes with every rent of one piece of memory. It lies apart from the guard, so that a pool can read it without keeping a rented guard alive,
/// and is padded to 128 bytes (two cache lines, which processors fetch in pairs), so that cores do not slow each other down.
/// Whoever holds the memory exclusively writes; everyone may read.
/// </summary>
[StructLayout(LayoutKind.Sequential, Size = 128)]
internal struct BlockState
{
    /// <summary>Generation, flags and reference count: see <see cref="GuardState"/>.</summary>
    public long State;

    /// <summary>How many allocations began here.</summary>
    public long Rents;

    /// <summary>When the last one did, by the coarse clock.</summary>
    public long RentedAtMilliseconds;

    /// <summary>The capacity in bytes of the whole allocation that begins here, further parts of a group included.</summary>
    public long AllocationBytes;

    /// <summary>The bytes of this piece that the renter can reach.</summary>
    public long UsedBytes;

    /// <summary>How many adjacent blocks go out together from here.</summary>
    public int RunLength;

    /// <summary>1 when either the memory has been given up or a pending finalizer has run; whoever comes second hands the memory back.</summary>
    public int Handover;

    /// <summary>For memory of a guard's own: whether the system gave it as zeros.</summary>
    public bool Zeroed;
}

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
    /// <summary>The owner's own reference, and one for each pin and each running delegate.</summary>
    public const long References = 0xFFFF;

    /// <summary>The owner has been disposed; what still counts are pins and running delegates.</summary>
    public const long Disposed = 1 << 16;

    /// <summary>The owner was collected without <c>Dispose</c>.</summary>
    public const long Abandoned = 1 << 17;

    /// <summary>A further part of a group: out, but not an allocation of its own.</summary>
    public const long Member = 1 << 18;

    private const long GenerationStep = 1 << 20;

    /// <summary>
    /// A reference count, flags, and above them the generation, which grows whenever the memory comes back. A user holds the generation
    /// of their rent; any other value says that it is over.
    /// </summary>
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

    /// <summary>For memory of a guard's own: whether the system gave it as zeros.</summary>
    public bool Zeroed;

    public static long Generation(long state) => state & -GenerationStep;

    /// <summary>The idle state in which the memory is after the rent that <paramref name="state"/> is of.</summary>
    public static long Next(long state) => Generation(state) + GenerationStep;

    public static bool IsIdle(long state) => (state & References) == 0;

    public static bool IsAbandoned(long state) => (state & Abandoned) != 0;

    public static bool IsOutstanding(long state) => !IsIdle(state) && (state & (Abandoned | Member)) == 0;
}

namespace Allocator.Lifetime;

/// <summary>
/// The state of one piece of memory that changes with every rent. It is apart from the guard, so that a pool can read it without keeping a
/// rented guard alive. Only the thread that holds the memory exclusively writes it; any thread may read.
/// </summary>
internal class RentState
{
    /// <summary>The owner's own reference, and one for each pin and each running delegate.</summary>
    public const long References = 0xFFFF;

    /// <summary>The owner has been disposed. Only pins and running delegates still count.</summary>
    public const long Disposed = 1 << 16;

    /// <summary>The owner was collected without <c>Dispose</c>.</summary>
    public const long Abandoned = 1 << 17;

    /// <summary>A further guard of a group: outstanding, but not an allocation of its own.</summary>
    public const long Member = 1 << 18;

    /// <summary>A block that is idle in its pool's cache. The thread that clears this flag holds the block.</summary>
    public const long Cached = 1 << 20;

    /// <summary>Like <see cref="Cached"/>, for a run: the flag of its first block applies to all its blocks.</summary>
    public const long CachedRun = 1 << 21;

    private const long GenerationStep = 1 << 22;

    /// <summary>
    /// A reference count, flags, and above them the generation, which grows whenever the memory is returned. An owner remembers the
    /// generation of its rent: any other value here means that this rent is over.
    /// </summary>
    public long State;

    /// <summary>How many allocations began here.</summary>
    public long Rents;

    /// <summary>When the last of them began, by the coarse clock.</summary>
    public long RentedAtMilliseconds;

    /// <summary>The capacity in bytes of the whole allocation that begins here, further guards of a group included.</summary>
    public long AllocationBytes;

    /// <summary>The bytes of that capacity that the renter can reach.</summary>
    public long UsedBytes;

    /// <summary>How many adjacent blocks are rented together from here.</summary>
    public int RunLength;

    /// <summary>For a mapping or memory of a heap: whether the system supplied it as zeros.</summary>
    public bool Zeroed;

    /// <summary>Notes the size and time of a rent that is about to begin and holds this memory exclusively.</summary>
    public void NoteRent(long usedBytes, long capacityInBytes, long nowMilliseconds)
    {
        UsedBytes = usedBytes;
        RentedAtMilliseconds = nowMilliseconds;
        Rents++;
        AllocationBytes = capacityInBytes;
    }

    public static long Generation(long state) => state & -GenerationStep;

    /// <summary>Returns the idle state that follows the rent of <paramref name="state"/>.</summary>
    public static long Next(long state) => Generation(state) + GenerationStep;

    public static bool IsIdle(long state) => (state & References) == 0;

    public static bool IsAbandoned(long state) => (state & Abandoned) != 0;

    public static bool IsOutstanding(long state) => !IsIdle(state) && (state & (Abandoned | Member)) == 0;

    /// <summary>Returns the debugger's text. Read without a lock, so its parts may be of different moments.</summary>
    public override string ToString()
    {
        string state = IsIdle(State) ? "idle"
            : IsAbandoned(State) ? "abandoned"
            : (State & Disposed) != 0 ? $"disposed, {State & References} references left"
            : $"rented, {State & References} references";
        return $"{state}, {UsedBytes} bytes used, {Rents} rents";
    }
}

using System;
using System.Globalization;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// What an owner keeps when its rent is over, in the two fields that it has: in place of the guard an <see cref="EndedGuard"/>, in place of the generation the size and the time of the rent.
/// A late user is told which allocation it was.
/// </summary>
internal readonly struct EndedRent
{
    // No generation and no state has this bit, so what is kept never passes for a generation that is held.
    private const long Mark = 1 << 19;
    private const int LowBits = 19;
    private const int TimeBits = 27;
    private const int SizeShift = 28;
    private const long MaximumBytes = (1L << (64 - SizeShift - 1)) - 1;
    private const long TimeMask = (1L << TimeBits) - 1;

    private EndedRent(EndedGuard guard, long memory)
    {
        Guard = guard;
        Memory = memory;
    }

    /// <summary>Gets what takes the guard's place.</summary>
    public EndedGuard Guard { get; }

    /// <summary>Gets what takes the generation's place.</summary>
    public long Memory { get; }

    /// <summary>Keeps what is known of a rent.</summary>
    /// <param name="guard">What takes the guard's place.</param>
    /// <param name="generation">The generation of the rent.</param>
    /// <param name="bytes">The size of the buffer in bytes; beyond 32 GiB it is not kept.</param>
    /// <param name="startedMilliseconds">When the rent began; 0 where that is not known.</param>
    public static EndedRent Create(EndedGuard guard, long generation, long bytes, long startedMilliseconds)
    {
        if (!CanKeep(bytes, IntPtr.Size))
        {
            return new EndedRent(guard, generation);
        }

        // To four seconds, with the bit for one set and that for two not: zero then means unknown, and what is kept, plus the one reference that a guard compares with, has the mark too.
        long seconds = startedMilliseconds == 0 ? 0 : (startedMilliseconds / 1000 & TimeMask & ~3) | 1;
        return new EndedRent(guard, bytes << SizeShift | seconds >> LowBits << (LowBits + 1) | Mark | (seconds & (Mark - 1)));
    }

    /// <summary>Gives whether a process with pointers of that size can keep a rent of so many bytes. Where a long takes two writes, another thread may see half of one.</summary>
    public static bool CanKeep(long bytes, int pointerSizeInBytes) => pointerSizeInBytes >= sizeof(long) && bytes <= MaximumBytes;

    /// <summary>Tells it again as it was told: for a rent that was over before.</summary>
    public static EndedRent Unchanged(LifetimeGuard guard, long memory) => new(guard as EndedGuard ?? EndedGuard.Instance, memory);

    /// <summary>Says in words what an owner's two fields tell of its rent; empty where they tell nothing.</summary>
    public static string Describe(LifetimeGuard guard, long memory) => Describe(guard, memory, Environment.TickCount64);

    /// <summary>As above, at a given time.</summary>
    public static string Describe(LifetimeGuard guard, long memory, long nowMilliseconds)
    {
        AllocationTrace? trace = (guard as EndedGuard)?.RentTrace;
        if ((memory & Mark) == 0)
        {
            return trace is null ? "" : $"It had {trace}";
        }

        string size = string.Format(CultureInfo.InvariantCulture, "It had {0:N0} bytes", memory >> SizeShift);
        if (trace is not null)
        {
            return $"{size}, {trace.Origin}";
        }

        long seconds = ((memory >> (LowBits + 1) << LowBits) | (memory & (Mark - 1))) & TimeMask;
        if (seconds == 0)
        {
            return $"{size}.";
        }

        // The time is that of the pool's coarse clock, which moves on at ticks, and kept to four seconds: a rent may seem to begin a little after its end.
        const int Unused = 64 - TimeBits;
        long age = Math.Max(0, (nowMilliseconds / 1000 - seconds) << Unused >> Unused);
        return string.Format(CultureInfo.InvariantCulture, "{0}, allocated about {1:N0} s ago.", size, age);
    }
}

using System.Globalization;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// What an owner references in place of its guard when its rent is over: a guard without memory. A disposed owner that stays in a field
/// would otherwise keep the guard reachable, and the next rent of the memory would not be found when it is abandoned. In place of the
/// generation the owner then has the size and the time of its rent, for the message of a use after <c>Dispose</c>.
/// </summary>
internal sealed class EndedGuard : LifetimeGuard
{
    public static readonly EndedGuard Instance = new(null);

    // No generation and no state has this bit, so what is remembered never passes for a generation that is held.
    private const long Mark = 1 << 19;
    private const int LowBits = 19;
    private const int TimeBits = 27;
    private const int SizeShift = 28;
    private const long MaximumBytes = (1L << (64 - SizeShift - 1)) - 1;
    private const long TimeMask = (1L << TimeBits) - 1;

    public EndedGuard(AllocationTrace? trace)
        : base(new BlockState())
    {
        Record.State = BlockState.Abandoned;
        RentTrace = trace;
    }

    /// <summary>Gets what is known of the rent, where it was traced.</summary>
    public AllocationTrace? RentTrace { get; }

    /// <summary>Makes <see cref="Instance"/> where an exception has a caller: a type initializer that fails once fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(Instance);

    /// <summary>
    /// Returns what an owner remembers in place of the generation: size and time of its rent, 0 for unknown. Beyond 32 GiB the generation.
    /// </summary>
    public static long Remember(long generation, long bytes, long startedMilliseconds)
    {
        if (!CanRemember(bytes, IntPtr.Size))
        {
            return generation;
        }

        // To four seconds; the lowest bit is set and the next is not. So 0 means unknown, and adding the one reference that a guard
        // compares with leaves the mark as it is.
        long seconds = startedMilliseconds == 0 ? 0 : (startedMilliseconds / 1000 & TimeMask & ~3) | 1;
        return bytes << SizeShift | seconds >> LowBits << (LowBits + 1) | Mark | (seconds & (Mark - 1));
    }

    /// <summary>False for large sizes, and in 32-bit processes, where another thread may see half of a long.</summary>
    public static bool CanRemember(long bytes, int pointerSizeInBytes) => pointerSizeInBytes >= sizeof(long) && bytes <= MaximumBytes;

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

        // The time is that of the pool's coarse clock, which moves on at ticks, and kept to four seconds: a rent may seem to begin a
        // little after its end.
        const int Unused = 64 - TimeBits;
        long age = Math.Max(0, (nowMilliseconds / 1000 - seconds) << Unused >> Unused);
        return string.Format(CultureInfo.InvariantCulture, "{0}, allocated about {1:N0} s ago.", size, age);
    }

    protected override void GiveBack(bool ofLease)
    {
        // Never called: no generation has this state.
    }
}

using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Counts abandoned memory that is kept from the next renter because a span that outlived its owner may still point into it. Nothing
/// references that memory: a further collection finds it, and the trim timer checks whether to ask for one. Thread-safe.
/// </summary>
internal sealed class Quarantine(Clock clock)
{
    private readonly ShortLock _lock = new();
    private int _count;
    private long _firstEnd = long.MaxValue;

    /// <summary>Gets or sets the callback after an addition, on the thread that added. It must not throw.</summary>
    public Action? Added { get; set; }

    /// <summary>Gets or sets whether nothing waits for the end of a stay any more.</summary>
    public bool IsClosed { get; set; }

    public long Entered { get; private set; }

    /// <summary>Gets the shortest stay of the memory here; <see cref="long.MaxValue"/> if there is none.</summary>
    public long PeriodMilliseconds { get; private set; } = long.MaxValue;

    /// <summary>Returns when to look next: when the first stay ends, or one stay later if only a collection is missing.</summary>
    public long NextLook(long nowMilliseconds)
    {
        using ShortLock.Section section = _lock.Enter();
        return _count == 0 || _firstEnd > nowMilliseconds ? _firstEnd : nowMilliseconds + PeriodMilliseconds;
    }

    /// <summary>Returns whether a stay is over, so that only a collection is missing.</summary>
    public bool IsOver(long nowMilliseconds)
    {
        using ShortLock.Section section = _lock.Enter();
        return nowMilliseconds >= _firstEnd;
    }

    /// <summary>Counts memory that stays for a while. Returns when that is over.</summary>
    public long Enter(long periodMilliseconds)
    {
        long end = clock.NowMilliseconds + periodMilliseconds;
        using (_lock.Enter())
        {
            _count++;
            Entered++;
            _firstEnd = Math.Min(_firstEnd, end);
            PeriodMilliseconds = Math.Min(PeriodMilliseconds, periodMilliseconds);
        }

        Added?.Invoke();
        return end;
    }

    public void Leave()
    {
        using ShortLock.Section section = _lock.Enter();
        if (--_count == 0)
        {
            _firstEnd = PeriodMilliseconds = long.MaxValue;
        }
    }
}

using System.Runtime;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Makes the background thread call the trimmers of all pools, which it references weakly, while any pool has memory. It is driven by a
/// timer, because unmanaged memory causes no collection, and by Gen2 collections, which it requests now and then, because only they find
/// abandoned memory.
/// </summary>
[DebuggerDisplay("{_active.Count} pools, running: {IsRunning}, due at {_due} ms")]
internal sealed class TrimTimer : IBackgroundWork
{
    // Each tick looks at all pools, so a period has at most this many ticks, however many pools there are.
    private const int MostTicksInAPeriod = 1000;

    private readonly ShortLock _lock = new(mayAllocate: true);
    private readonly List<WeakReference<PoolTrimmer>> _active = [];
    private readonly Clock _clock;
    private readonly bool _watchesCollections;
    private BackgroundState _work;
    private readonly WeakReference<TrimTimer> _self;
    private bool _hasCallback;
    private long _due = long.MaxValue;
    private bool _isClosed;

    /// <summary>Creates a timer, which need not watch collections: in tests that move a clock by hand, nothing else may act.</summary>
    public TrimTimer(
        Clock clock, Action collect, bool watchesCollections, Func<GCLatencyMode>? readMode = null, Action? collectBlocking = null)
    {
        _self = new WeakReference<TrimTimer>(this);
        _clock = clock;
        _watchesCollections = watchesCollections;
        readMode ??= static () => GCLatencyMode.Interactive;
        Collections = new CollectionRequests(clock, collect, collectBlocking ?? collect, readMode);
        Quarantine = new Quarantine(clock) { Added = ExpectQuarantine };
    }

    /// <summary>Gets the timer of the process. It does not tick before the first memory is outstanding.</summary>
    public static TrimTimer Shared { get; } = new(
        SystemClock.Instance,
        CollectionRequests.Collect,
        watchesCollections: true,
        static () => GCSettings.LatencyMode,
        CollectionRequests.CollectBlocking)
    {
        Jitter = PoolTrimmer.CreateJitter(),
    };

    public Random? Jitter { get; init; }

    public Action<IBackgroundWork> RunCallbacks { get; init; } = UserCallbacks.Thread.Queue;

    /// <summary>Gets the abandoned memory that waits for a collection. It is kept here because its pool may be gone.</summary>
    public Quarantine Quarantine { get; }

    public CollectionRequests Collections { get; }

    public bool IsRunning => Volatile.Read(ref _due) != long.MaxValue;

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Notes that the trimmer's pool has got memory. Cheap if that is known already.</summary>
    public void Wake(PoolTrimmer trimmer)
    {
        UserCallbacks.EnsureThreads();
        if (trimmer.IsActive)
        {
            return;
        }

        using ShortLock.Section section = _lock.Enter();
        if (!trimmer.IsActive)
        {
            trimmer.StartPeriod(_clock.NowMilliseconds, PoolTrimmer.Stretch(trimmer.PeriodMilliseconds, Jitter));

            // A tick with no work is the last. If this throws, the next call tries again.
            Expect(trimmer.NextLook(_clock.NowMilliseconds));
            _active.Add(new WeakReference<PoolTrimmer>(trimmer));
            trimmer.IsActive = true;
        }
    }

    /// <summary>Trims all pools. If one fails, the others still have their turn. One call at a time.</summary>
    public void Tick()
    {
        _clock.RefreshCoarse();
        long now = _clock.NowMilliseconds;
        TickAll(now);
        LookForAbandoned(now);
        ScheduleNext();
    }

    /// <summary>Brings the next tick forward to now, if the timer runs and a collection took place. False if it does not run.</summary>
    public bool TryWake(bool isCollected)
    {
        using ShortLock.Section section = _lock.Enter();
        _hasCallback = IsRunning;
        if (IsRunning && isCollected)
        {
            _clock.RunBy(this, dueMilliseconds: 0);
        }

        return IsRunning;
    }

    /// <summary>Notes that the callback was lost. The next tick makes another one.</summary>
    public void ForgetCallback()
    {
        using ShortLock.Section section = _lock.Enter();
        _hasCallback = false;
    }

    /// <summary>Releases the idle memory of all pools. Those with hooks do so soon after, if there is no caller's thread.</summary>
    public void ReleaseAll()
    {
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            if (trimmer?.HasHooks == true && BackgroundThread.ForbidsUserCode)
            {
                trimmer.ReleaseAllLater(RunCallbacks);
            }
            else
            {
                trimmer?.ReleaseAll(TrimReason.Refusal);
            }
        }
    }

    /// <summary>Ends ticking for good: the callback would keep the code of the library loaded.</summary>
    public void Close()
    {
        using (_lock.Enter())
        {
            _isClosed = true;
            _active.Clear();
            Stop();
        }

        Quarantine.IsClosed = true;
    }

    void IBackgroundWork.DoWork() => Tick();

    private void TickAll(long nowMilliseconds)
    {
        SystemMemory? read = null;
        MemoryLoad load = default;
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            if (trimmer is not null && trimmer.Pressure != read)
            {
                read = trimmer.Pressure;
                load = read.ReadLoad();
            }

            trimmer?.Tick(nowMilliseconds, PoolTrimmer.Stretch(trimmer.PeriodMilliseconds, Jitter), load, RunCallbacks);
        }
    }

    // Memory in quarantine needs a further collection, whatever the options say: nothing else brings it back.
    private void LookForAbandoned(long nowMilliseconds)
    {
        bool isAwaited = Quarantine.IsOver(nowMilliseconds);
        if (!Collections.IsLookDue(nowMilliseconds, isAwaited))
        {
            return;
        }

        long period = isAwaited ? Quarantine.PeriodMilliseconds : long.MaxValue;
        long activity = Quarantine.Entered;
        bool hasWaiters = false;
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            if (trimmer?.IsSearched == true)
            {
                period = Math.Min(period, trimmer.PeriodMilliseconds);
                activity += trimmer.Activity;
                hasWaiters |= trimmer.HasWaiters;
            }
        }

        if (period != long.MaxValue)
        {
            Collections.Look(period, activity, isAwaited, hasWaiters);
        }
    }

    // By index, because a copy takes memory.
    private bool TryGetActive(int index, out PoolTrimmer? trimmer)
    {
        trimmer = null;
        using ShortLock.Section section = _lock.Enter();
        return index < _active.Count && (_active[index].TryGetTarget(out trimmer) || true);
    }

    // Sets the timer to the next period's end, or stops it if there is nothing left to do.
    private void ScheduleNext()
    {
        using ShortLock.Section section = _lock.Enter();
        long now = _clock.NowMilliseconds;
        long due = Quarantine.NextLook(now);
        long shortestPeriod = long.MaxValue;
        int kept = 0;
        for (int i = 0; i < _active.Count; i++)
        {
            if (_active[i].TryGetTarget(out PoolTrimmer? trimmer) && StaysActive(trimmer))
            {
                due = Math.Min(due, trimmer.NextLook(now));
                shortestPeriod = Math.Min(shortestPeriod, trimmer.LookPeriodMilliseconds);
                _active[kept++] = _active[i];
            }
        }

        _active.RemoveRange(kept, _active.Count - kept);
        _due = long.MaxValue;
        if (due == long.MaxValue)
        {
            Stop();
        }
        else
        {
            Expect(kept == 0 ? due : Math.Max(due, now + shortestPeriod / MostTicksInAPeriod));
        }
    }

    private void ExpectQuarantine()
    {
        try
        {
            using ShortLock.Section section = _lock.Enter();
            Expect(Quarantine.NextLook(_clock.NowMilliseconds));
        }
        catch (Exception)
        {
            _clock.RunBy(this, dueMilliseconds: 0);
        }
    }

    // Under the lock.
    private void Expect(long dueMilliseconds)
    {
        if (dueMilliseconds < _due && !_isClosed)
        {
            _clock.RunBy(this, dueMilliseconds);
            _due = dueMilliseconds;
            if (_watchesCollections && !_hasCallback)
            {
                _ = new Gen2Callback(_self);
                _hasCallback = true;
            }
        }
    }

    private void Stop()
    {
        _due = long.MaxValue;
        _clock.Cancel(this);
    }

    private static bool StaysActive(PoolTrimmer trimmer)
    {
        if (trimmer.IsActive && !trimmer.HasWork)
        {
            trimmer.IsActive = false;
            Interlocked.MemoryBarrier();

            // Between the two lines a renter may have got memory, and seen that it need not wake the timer.
            trimmer.IsActive = trimmer.HasWork;
        }

        return trimmer.IsActive;
    }
}

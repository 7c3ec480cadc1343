using System.Runtime;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Calls the trimmers of all pools, which it references weakly, while any has memory: on one timer, because unmanaged memory causes no
/// collection, and after Gen2 collections, of which one is requested now and then, because only that finds abandoned memory.
/// </summary>
[DebuggerDisplay("{_active.Count} pools, running: {IsRunning}, due at {_due} ms")]
internal sealed class TrimScheduler : IBackgroundWork
{
    // A timer takes 49 days, and a period may last 24, before it is stretched.
    private const long LongestWait = int.MaxValue;

    // Each tick looks at all pools, so that there are this many in a period at most, however many pools there are.
    private const int MostTicksInAPeriod = 1000;

    // In milliseconds: a tick that takes longer is probably blocked in a hook of the user's, and another one trims the other pools.
    private const long LongestTick = 5000;

    private readonly ShortLock _lock = new(mayAllocate: true);
    private readonly List<WeakReference<PoolTrimmer>> _active = [];
    private readonly Clock _clock;
    private readonly bool _watchesCollections;
    private BackgroundState _work;
    private ClockTimer? _timer;
    private Gen2Callback.Registration? _gen2Callback;
    private long _due = long.MaxValue;
    private bool _isClosed;

    /// <summary>Makes one. In tests that move a clock by hand nothing else is to act, so it need not watch collections.</summary>
    public TrimScheduler(
        Clock clock, Action collect, bool watchesCollections, Func<GCLatencyMode>? readMode = null, Action? collectBlocking = null)
    {
        _clock = clock;
        _watchesCollections = watchesCollections;
        readMode ??= static () => GCLatencyMode.Interactive;
        Collections = new CollectionRequests(clock, collect, collectBlocking ?? collect, readMode);
        Quarantine = new Quarantine(clock) { Added = ExpectQuarantine };
        Background.Prepare();
    }

    /// <summary>Gets the scheduler of the process. It has no timer and no callback before the first memory is outstanding.</summary>
    public static TrimScheduler Shared { get; } = new(
        SystemClock.Instance,
        CollectionRequests.Collect,
        watchesCollections: true,
        static () => GCSettings.LatencyMode,
        CollectionRequests.CollectBlocking)
    {
        Jitter = PoolTrimmer.CreateJitter(),
    };

    public Random? Jitter { get; init; }

    /// <summary>Gets where abandoned memory waits. Rooted here, because its pool may be gone.</summary>
    public Quarantine Quarantine { get; }

    public CollectionRequests Collections { get; }

    public bool IsRunning => Volatile.Read(ref _due) != long.MaxValue;

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Notes that the trimmer's pool has got memory. Cheap where that is known.</summary>
    public void Wake(PoolTrimmer trimmer)
    {
        if (trimmer.IsActive)
        {
            return;
        }

        using (_lock.Enter())
        {
            if (!trimmer.IsActive)
            {
                trimmer.StartPeriod(_clock.NowMilliseconds, PoolTrimmer.Stretch(trimmer.PeriodMilliseconds, Jitter));

                // A timer that fires for nothing stops; and where something throws here, the next call tries again.
                Expect(trimmer.NextLook(_clock.NowMilliseconds));
                _active.Add(trimmer.Reference);
                trimmer.IsActive = true;
            }
        }
    }

    /// <summary>Trims all pools. Called by the timer, and after a Gen2 collection. Where one fails the others have their turn.</summary>
    public void Tick()
    {
        _clock.RefreshCoarse();
        long now = _clock.NowMilliseconds;

        // Before any trim, in which a hook of the user's may block for ever.
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            trimmer?.ServeWaiters();
        }

        ExpectAnother(now);
        SystemMemory? read = null;
        MemoryLoad load = default;
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            if (trimmer is not null && trimmer.Pressure != read)
            {
                read = trimmer.Pressure;
                load = ReadLoad(read);
            }

            trimmer?.Tick(now, PoolTrimmer.Stretch(trimmer.PeriodMilliseconds, Jitter), load);
        }

        LookForAbandoned(now);
        Quarantine.ReleaseExpired();
        Background.RetryAll();

        // While this tick had the quarantine's list in hand, another may have found it empty and stopped the timer.
        ScheduleNext();
    }

    public void TrimAll()
    {
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            trimmer?.TrimAll(TrimReason.Refusal);
        }
    }

    /// <summary>Ends ticking for good: timer and callback would keep the code of the library loaded.</summary>
    public void Close()
    {
        using (_lock.Enter())
        {
            _isClosed = true;
            _active.Clear();
            Stop();
            _timer?.Dispose();
            _timer = null;
        }

        Quarantine.Close();
    }

    void IBackgroundWork.DoWork() => Tick();

    private void LookForAbandoned(long nowMilliseconds)
    {
        if (!Collections.IsLookDue(nowMilliseconds))
        {
            return;
        }

        long period = Quarantine.SearchPeriodMilliseconds;
        long activity = Quarantine.Entered;
        for (int i = 0; TryGetActive(i, out PoolTrimmer? trimmer); i++)
        {
            if (trimmer?.IsSearched == true)
            {
                period = Math.Min(period, trimmer.PeriodMilliseconds);
                activity += trimmer.Activity;
            }
        }

        if (period != long.MaxValue)
        {
            Collections.Look(period, activity);
        }
    }

    // Where there is no managed memory to read files with, the load is that of a system which reports none.
    private static MemoryLoad ReadLoad(SystemMemory source)
    {
        try
        {
            return source.ReadLoad();
        }
        catch (Exception)
        {
            return default;
        }
    }

    // By index, because a copy takes memory. What another tick moves meanwhile is missed or seen twice, until the next one.
    private bool TryGetActive(int index, out PoolTrimmer? trimmer)
    {
        trimmer = null;
        using (_lock.Enter())
        {
            return index < _active.Count && (_active[index].TryGetTarget(out trimmer) || true);
        }
    }

    // In case this tick does not end. Not sooner: at a full heap overlapping ticks would pile up, and their threads take managed memory.
    private void ExpectAnother(long nowMilliseconds)
    {
        try
        {
            using (_lock.Enter())
            {
                _due = long.MaxValue;
                Expect(nowMilliseconds + LongestTick);
            }
        }
        catch (Exception)
        {
            // No managed memory. The end of this tick sets the timer.
        }
    }

    // Sets the timer to the next period's end, or stops where nothing is left to look after.
    private void ScheduleNext()
    {
        using (_lock.Enter())
        {
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
    }

    private void ExpectQuarantine()
    {
        try
        {
            using (_lock.Enter())
            {
                Expect(Quarantine.NextLook(_clock.NowMilliseconds));
            }
        }
        catch (Exception)
        {
            Background.Queue(this);
        }
    }

    // Sets the timer to fire by then. Called under the lock.
    private void Expect(long dueMilliseconds)
    {
        if (dueMilliseconds < _due && !_isClosed)
        {
            _timer ??= _clock.CreateTimer(() => Background.Run(this));
            _timer.Start(TimeSpan.FromMilliseconds(Math.Max(1, Math.Min(dueMilliseconds - _clock.NowMilliseconds, LongestWait))));
            _due = dueMilliseconds;
            if (_watchesCollections && _gen2Callback?.IsStopped != false)
            {
                _gen2Callback = Gen2Callback.Register(this);
            }
        }
    }

    private void Stop()
    {
        _due = long.MaxValue;
        _timer?.Stop();
        _gen2Callback?.IsStopped = true;
        _gen2Callback = null;
    }

    private static bool StaysActive(PoolTrimmer trimmer)
    {
        if (trimmer.IsActive && !trimmer.HasWork && !Background.HasKept)
        {
            trimmer.IsActive = false;
            Interlocked.MemoryBarrier();

            // Between the two lines a renter may have got memory, and seen that there was no need to wake the scheduler.
            trimmer.IsActive = trimmer.HasWork;
        }

        return trimmer.IsActive;
    }
}

using System;
using System.Collections.Generic;
using System.Runtime;
using System.Threading;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Calls the trimmers of all pools, on one timer and after Gen2 collections, while any of them has memory out, retained or quarantined. Knows them weakly.
/// </summary>
/// <remarks>Unmanaged memory causes no collection, hence the timer; and abandoned memory is found by none, hence the collection that is asked for now and then.</remarks>
internal sealed class TrimScheduler
{
    // A timer takes 49 days, and a period may last 24, before it is stretched.
    private const long LongestWait = int.MaxValue;

    private readonly object _lock = new();
    private readonly List<WeakReference<PoolTrimmer>> _trimmers = [];
    private readonly Clock _clock;
    private readonly Action _collect;
    private readonly bool _watchesCollections;
    private ClockTimer? _timer;
    private Gen2Callback.Registration? _gen2Callback;
    private bool _running;
    private long _quarantineDue = long.MaxValue;
    private int _collectionsAtLastTick;
    private long? _lastCollectionMilliseconds;

    /// <summary>Makes a scheduler.</summary>
    /// <param name="clock">The time to go by.</param>
    /// <param name="collect">Asks for a Gen2 collection.</param>
    /// <param name="watchesCollections">Whether it acts after Gen2 collections too. Tests that move a clock by hand want nobody else to act.</param>
    public TrimScheduler(Clock clock, Action collect, bool watchesCollections)
    {
        _clock = clock;
        _collect = collect;
        _watchesCollections = watchesCollections;
        Quarantine = new Quarantine(clock) { Added = ScheduleNext };
    }

    /// <summary>Gets the one of the process. No timer and no callback exist before the first memory is out.</summary>
    public static TrimScheduler Shared { get; } =
        new(SystemClock.Instance, Collect, watchesCollections: true) { Jitter = TrimJitter.Create() };

    /// <summary>Gets by how much periods are stretched. Not at all, unless told: tests count on exact ones.</summary>
    public TrimJitter Jitter { get; init; } = TrimJitter.None;

    /// <summary>Gets where abandoned memory waits. Rooted here, because its pool may be gone.</summary>
    public Quarantine Quarantine { get; }

    /// <summary>Gets whether the timer runs.</summary>
    public bool IsRunning
    {
        get
        {
            lock (_lock)
            {
                return _running;
            }
        }
    }

    /// <summary>Adds a trimmer, for as long as it lives.</summary>
    public void Register(PoolTrimmer trimmer)
    {
        lock (_lock)
        {
            _trimmers.RemoveAll(static reference => !reference.TryGetTarget(out _));
            _trimmers.Add(new WeakReference<PoolTrimmer>(trimmer));
        }
    }

    /// <summary>Says that the trimmer's pool has got memory. Cheap where that is known.</summary>
    public void Wake(PoolTrimmer trimmer)
    {
        if (!trimmer.IsActive)
        {
            lock (_lock)
            {
                trimmer.IsActive = true;
                trimmer.StartPeriod(_clock.NowMilliseconds, Jitter.Stretch(trimmer.PeriodMilliseconds));
            }

            try
            {
                ScheduleNext();
            }
            catch
            {
                // Or nobody would ever try again.
                trimmer.IsActive = false;
                throw;
            }
        }
    }

    /// <summary>Asks for one Gen2 collection that blocks nobody, unless one was asked for within the period.</summary>
    public void RequestCollection(TimeSpan period)
    {
        long now = _clock.NowMilliseconds;
        lock (_lock)
        {
            if (now - _lastCollectionMilliseconds < (long)period.TotalMilliseconds)
            {
                return;
            }

            _lastCollectionMilliseconds = now;
        }

        _collect();
    }

    /// <summary>Looks after all pools. Called by the timer, and after a Gen2 collection.</summary>
    public void Tick()
    {
        _clock.RefreshCoarse();
        long now = _clock.NowMilliseconds;
        PressureSource? read = null;
        MemoryLoad load = default;
        foreach (PoolTrimmer trimmer in ActiveTrimmers())
        {
            if (trimmer.Pressure != read)
            {
                read = trimmer.Pressure;
                load = read.Read();
            }

            trimmer.Trim(now, Jitter.Stretch(trimmer.PeriodMilliseconds), load);
        }

        Quarantine.ReleaseExpired();

        // After every tick: while this one had the quarantine's list in hand, another may have found it empty and stopped the timer.
        ScheduleNext();
    }

    private static void Collect()
    {
        // A forced collection would end the region, without a word to whoever is in it.
        if (GCSettings.LatencyMode != GCLatencyMode.NoGCRegion)
        {
            GC.Collect(2, GCCollectionMode.Forced, blocking: false);
        }
    }

    private void OnTimer()
    {
        long? shortestPeriod = Quarantine.ShortestStayMilliseconds;
        foreach (PoolTrimmer trimmer in ActiveTrimmers())
        {
            if (trimmer.HasMemoryOut)
            {
                shortestPeriod = Math.Min(shortestPeriod ?? long.MaxValue, trimmer.PeriodMilliseconds);
            }
        }

        int collections = GC.CollectionCount(2);
        if (shortestPeriod is long period && collections == _collectionsAtLastTick)
        {
            RequestCollection(TimeSpan.FromMilliseconds(period));
        }

        _collectionsAtLastTick = collections;
        Tick();
    }

    private List<PoolTrimmer> ActiveTrimmers()
    {
        List<PoolTrimmer> active = [];
        lock (_lock)
        {
            foreach (WeakReference<PoolTrimmer> reference in _trimmers)
            {
                if (reference.TryGetTarget(out PoolTrimmer? trimmer) && trimmer.IsActive)
                {
                    active.Add(trimmer);
                }
            }
        }

        return active;
    }

    // Sets the timer to the next period's end, or stops where nothing is left to look after.
    private void ScheduleNext()
    {
        lock (_lock)
        {
            long due = NextLookAtQuarantine();
            foreach (WeakReference<PoolTrimmer> reference in _trimmers)
            {
                if (reference.TryGetTarget(out PoolTrimmer? trimmer) && StaysActive(trimmer))
                {
                    due = Math.Min(due, trimmer.DueMilliseconds);
                }
            }

            _running = due != long.MaxValue;
            if (_running)
            {
                _timer ??= _clock.CreateTimer(OnTimer);
                _gen2Callback ??= _watchesCollections ? Gen2Callback.Register(this) : null;
                _timer.Start(TimeSpan.FromMilliseconds(Math.Max(1, Math.Min(due - _clock.NowMilliseconds, LongestWait))));
            }
            else
            {
                _timer?.Dispose();
                _timer = null;
                _gen2Callback?.Stop();
                _gen2Callback = null;
            }
        }
    }

    // Where only a collection is missing its callback comes first; the timer then asks for the next one. What is set stays set, however often something is added.
    private long NextLookAtQuarantine()
    {
        long now = _clock.NowMilliseconds;
        _quarantineDue = Quarantine.ShortestStayMilliseconds is not long stay ? long.MaxValue
            : _quarantineDue > now ? Math.Min(_quarantineDue, now + stay)
            : now + stay;
        return _quarantineDue;
    }

    private static bool StaysActive(PoolTrimmer trimmer)
    {
        if (trimmer.IsActive && !trimmer.HasWork)
        {
            trimmer.IsActive = false;
            Interlocked.MemoryBarrier();

            // Between the two lines a renter may have got memory, and seen that there was no need to wake anybody.
            trimmer.IsActive = trimmer.HasWork;
        }

        return trimmer.IsActive;
    }
}

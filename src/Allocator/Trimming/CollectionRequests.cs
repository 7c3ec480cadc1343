using System.Runtime;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Decides when to force a Gen2 collection, because only that finds abandoned memory: at most once a trim period and for at most 5 % of
/// the time, ever more seldom in an idle process, and never on a thread that rents or returns. As the last resort, before the container's
/// limit refuses memory, it forces a collection that blocks. Thread-safe.
/// </summary>
internal sealed class CollectionRequests(Clock clock, Action collect, Action collectBlocking, Func<GCLatencyMode> readMode)
    : IBackgroundWork
{
    private const long LongestIntervalMilliseconds = 60 * 60 * 1000;

    // After this many collections that found nothing, each further one doubles the interval.
    private const int FruitlessAtFullRate = 2;

    // The alternative is being killed, but a process that is always refused memory must not collect all the time.
    private const int LastResortPeriodMilliseconds = 1000;

    private const long Never = long.MinValue / 2;

    // The time for finalizers to return the memory they found.
    private const int GraceMilliseconds = 100;

    // Without concurrent collection all threads are stopped meanwhile, so this may take 5 % of the time.
    private const int IntervalsOfADuration = 20;

    private readonly ShortLock _lock = new();
    private readonly object _lastResort = new();
    private BackgroundState _work;
    private long? _lastMilliseconds;
    private long _lastDurationMilliseconds;
    private long _nextLookMilliseconds;
    private int _collectionsSeen = GC.CollectionCount(2);
    private long _activitySeen;
    private int _fruitless;
    private long _lastResortEnded = Never;

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Collects, without blocking if the process collects concurrently.</summary>
    public static void Collect() => GC.Collect(2, GCCollectionMode.Forced, blocking: false);

    /// <summary>Collects and compacts everything. Does nothing in a no-GC region, which it would end.</summary>
    public static void CollectBlocking()
    {
        if (GCSettings.LatencyMode != GCLatencyMode.NoGCRegion)
        {
#if NET
            GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
#else
            GC.Collect(2, GCCollectionMode.Forced, blocking: true);
#endif
        }
    }

    /// <summary>
    /// Forces a collection on the background thread, unless there was one within the period, or the period is null. Before a refusal even
    /// one that blocks is worth it. If it is rare, it also needs an hour since the last one.
    /// </summary>
    /// <returns>Whether there will be one.</returns>
    public bool Request(TimeSpan? period, bool beforeRefusal, bool isRare = false)
    {
        long interval = Math.Max((long)(period?.TotalMilliseconds ?? 0), isRare ? LongestIntervalMilliseconds : 0);
        if (period is null || !MayForce(beforeRefusal) || !TryBegin(interval))
        {
            return false;
        }

        BackgroundThread.Shared.Ensure();
        BackgroundThread.Shared.Queue(this);
        return true;
    }

    /// <summary>Returns whether <see cref="Look"/> may do anything. If not, its arguments need not be read off all pools.</summary>
    public bool IsLookDue(long nowMilliseconds, bool isAwaited) => isAwaited || nowMilliseconds >= _nextLookMilliseconds;

    /// <summary>
    /// Forces a collection if memory is outstanding and none has taken place for long enough. Does so more often after activity, and if
    /// the quarantine awaits one. While a request waits even one that blocks is worth it: nothing else may end the wait. Called at ticks.
    /// </summary>
    public void Look(long periodMilliseconds, long activity, bool isAwaited, bool hasWaiters)
    {
        long now = clock.NowMilliseconds;
        _nextLookMilliseconds = now + periodMilliseconds;
        int collections = GC.CollectionCount(2);
        bool isCollected = collections != _collectionsSeen;
        _collectionsSeen = collections;
        if (activity != _activitySeen)
        {
            _activitySeen = activity;
            _fruitless = 0;
        }

        if ((isAwaited || !isCollected) && MayForce(beforeRefusal: hasWaiters) && TryBegin(IntervalOf(periodMilliseconds)))
        {
            _fruitless++;
            CollectTimed(collect);
        }
    }

    /// <summary>Collects and compacts everything, unless that would take more than 5 % of the time. Blocks.</summary>
    public void CollectNow()
    {
        if (MayForce(beforeRefusal: true) && TryBegin(0))
        {
            CollectTimed(collectBlocking);
        }
    }

    /// <summary>
    /// Releases malloc's free memory and collects, once for the whole process and at most once a second, or waits for the thread that
    /// does. Blocks the caller; an interrupt takes effect.
    /// </summary>
    /// <returns>Whether it is worth waiting a little: finalizers may still return memory that the collection found.</returns>
    public bool RunLastResort(bool mayCollect, NativeHeapTrimmer? heapTrimmer, AllocatorCounters counters)
    {
        lock (_lastResort)
        {
            if (IsLastResortDue)
            {
                heapTrimmer?.TryTrim(counters);
                if (mayCollect)
                {
                    collectBlocking();
                }

                Volatile.Write(ref _lastResortEnded, clock.NowMilliseconds);
            }

            return mayCollect && clock.NowMilliseconds - _lastResortEnded < GraceMilliseconds;
        }
    }

    /// <summary>Gets whether <see cref="RunLastResort"/> would do more than wait for another caller.</summary>
    public bool IsLastResortDue => clock.NowMilliseconds - Volatile.Read(ref _lastResortEnded) >= LastResortPeriodMilliseconds;

    /// <summary>As <see cref="RunLastResort"/>, on the thread for long work if there is one.</summary>
    public Task RunLastResortAsync(bool mayCollect, NativeHeapTrimmer? heapTrimmer, AllocatorCounters counters)
    {
        LastResort resort = new(() => RunLastResort(mayCollect, heapTrimmer, counters));
        BackgroundThread.Long.Ensure();
        if (BackgroundThread.Long.IsRunning)
        {
            BackgroundThread.Long.Queue(resort);
        }
        else
        {
            resort.DoWork();
        }

        return resort.Done.Task;
    }

    void IBackgroundWork.DoWork() => CollectTimed(collect);

    private void CollectTimed(Action collect)
    {
        long began = clock.NowMilliseconds;
        collect();
        Volatile.Write(ref _lastDurationMilliseconds, clock.NowMilliseconds - began);
    }

    // A forced collection would end a no-GC region, and with concurrent collection off it blocks all threads.
    private bool MayForce(bool beforeRefusal) => readMode() switch
    {
        GCLatencyMode.NoGCRegion => false,
        GCLatencyMode.Batch => beforeRefusal,
        _ => true,
    };

    private long IntervalOf(long periodMilliseconds)
    {
        int doublings = Math.Max(0, Math.Min(_fruitless - FruitlessAtFullRate + 1, 30));
        return Math.Max(periodMilliseconds, Math.Min(periodMilliseconds << doublings, LongestIntervalMilliseconds));
    }

    private bool TryBegin(long intervalMilliseconds)
    {
        long now = clock.NowMilliseconds;
        using ShortLock.Section section = _lock.Enter();
        if (now - _lastMilliseconds < Math.Max(intervalMilliseconds, IntervalsOfADuration * _lastDurationMilliseconds))
        {
            return false;
        }

        _lastMilliseconds = now;
        return true;
    }

    private sealed class LastResort(Action run) : IBackgroundWork
    {
        private BackgroundState _state;

        public Completion Done { get; } = new();

        ref BackgroundState IBackgroundWork.State => ref _state;

        public void DoWork()
        {
            try
            {
                run();
            }
            finally
            {
                Done.Complete();
            }
        }
    }
}

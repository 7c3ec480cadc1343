using System;
using System.Runtime;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Decides when a Gen2 collection is forced, which alone finds abandoned memory: at most once a trim period, ever more seldom in a process that does nothing, and never on a thread that rents or returns. Thread-safe.
/// </summary>
internal sealed class CollectionRequests : IBackgroundWork
{
    private const long LongestIntervalMilliseconds = 60 * 60 * 1000;

    // From then on the interval doubles with each.
    private const int FruitlessAtFullRate = 2;

    private readonly ShortLock _lock = new();
    private readonly Clock _clock;
    private readonly Action _collect;
    private readonly Func<GCLatencyMode> _readMode;
    private BackgroundState _work;
    private long? _lastMilliseconds;
    private long _nextLookMilliseconds;
    private int _collectionsSeen = GC.CollectionCount(2);
    private long _activitySeen;
    private int _fruitless;

    /// <param name="clock">The time to go by.</param>
    /// <param name="collect">Asks for a Gen2 collection.</param>
    /// <param name="readMode">Reads how the process collects.</param>
    public CollectionRequests(Clock clock, Action collect, Func<GCLatencyMode> readMode)
    {
        _clock = clock;
        _collect = collect;
        _readMode = readMode;
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Collects, without blocking where the process collects concurrently.</summary>
    public static void Collect() => GC.Collect(2, GCCollectionMode.Forced, blocking: false);

    /// <summary>Collects everything, compacts, gives what that frees back to the system, and comes back when it is done. Nothing in a region without collections, which it would end.</summary>
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

    /// <summary>Has a collection forced on the thread pool, unless one was within the period.</summary>
    /// <param name="period">The trim period of the allocator that lacks memory.</param>
    /// <param name="beforeRefusal">Whether a request is about to be refused or to wait: then it is worth a collection that blocks, too.</param>
    public void Request(TimeSpan period, bool beforeRefusal)
    {
        if (MayForce(beforeRefusal) && TryBegin((long)period.TotalMilliseconds))
        {
            Background.Queue(this);
        }
    }

    /// <summary>Gives whether <see cref="Look"/> would do anything: what it needs to know is not read off all pools before.</summary>
    public bool IsLookDue(long nowMilliseconds) => nowMilliseconds >= _nextLookMilliseconds && MayForce(beforeRefusal: false);

    /// <summary>Forces a collection where memory is outstanding and none has taken place for long enough. Called by ticks.</summary>
    /// <param name="periodMilliseconds">The shortest trim period of the allocators with memory that may be abandoned.</param>
    /// <param name="activity">A number that changes with every rent, return and abandonment of theirs.</param>
    public void Look(long periodMilliseconds, long activity)
    {
        long now = _clock.NowMilliseconds;
        _nextLookMilliseconds = now + periodMilliseconds;
        int collections = GC.CollectionCount(2);
        bool isCollected = collections != _collectionsSeen;
        _collectionsSeen = collections;
        if (activity != _activitySeen)
        {
            _activitySeen = activity;
            _fruitless = 0;
        }

        if (!isCollected && TryBegin(IntervalOf(periodMilliseconds)))
        {
            _fruitless++;
            _collect();
        }
    }

    void IBackgroundWork.DoWork() => _collect();

    // A forced collection would end a region without collections, and with concurrent collection off it blocks all threads.
    private bool MayForce(bool beforeRefusal) => _readMode() switch
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
        long now = _clock.NowMilliseconds;
        using (_lock.Enter())
        {
            if (now - _lastMilliseconds < intervalMilliseconds)
            {
                return false;
            }

            _lastMilliseconds = now;
            return true;
        }
    }
}

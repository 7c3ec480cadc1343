using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Trimming;

/// <summary>Decides how much of one pool's idle memory is released, and when. The pool does not know it.</summary>
internal sealed class PoolTrimmer(
    UniformUnmanagedMemoryPool pool, CountedArrayPool arrays, IdleMemory idle, AllocatorContext context, SystemMemory pressure,
    MemoryAllocatorOptions options)
    : IBackgroundWork
{
    private const double LargestJitter = 0.2;

    private const int LoadPeriodMilliseconds = 1000;

    private readonly double _rate = options.TrimRate;
    private BackgroundState _work;

    // Work to be done on the thread for hooks. Each flag is cleared before its work is done.
    private volatile bool _hasPeriodEnded;
    private volatile bool _isRefused;

    /// <summary>Gets the reader of memory load. The scheduler reads it once a tick for all pools that share it.</summary>
    public SystemMemory Pressure { get; } = pressure;

    /// <summary>Gets whether the allocator is limited, so that a high load must be noticed soon.</summary>
    public bool WatchesLoad { get; init; }

    public NativeHeapTrimmer? HeapTrimmer { get; init; }

    public bool HasHooks => context.HasHooks;

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets or sets whether the scheduler calls this trimmer. Set by the scheduler only.</summary>
    public bool IsActive { get; set; }

    public long PeriodMilliseconds { get; } = (long)options.TrimPeriod.TotalMilliseconds;

    public long LookPeriodMilliseconds => WatchesLoad ? Math.Min(PeriodMilliseconds, LoadPeriodMilliseconds) : PeriodMilliseconds;

    public long DueMilliseconds { get; private set; }

    /// <summary>Gets whether anything is outstanding, retained or quarantined, or a request waits for the budget.</summary>
    public bool HasWork => context.Counters.CommittedBytes > 0 || arrays.HeldBytes > 0 || HasWaiters;

    public bool HasWaiters => context.Budget.HasWaiters;

    /// <summary>Gets whether a collection may be requested, and may find something abandoned, a reservation included.</summary>
    public bool IsSearched =>
        (HasWaiters && context.CollectsToFindAbandoned != false)
        || (context.SearchesRegularly && (context.Counters[UsageFigure.RentedBytes] > 0 || pool.ReadUsage().RentedBytes > 0
            || arrays.ReadCounts().RentedBytes > 0));

    /// <summary>Gets a number that grows with every rent, return and abandonment of memory that a collection can find.</summary>
    public long Activity
    {
        get
        {
            PoolUsage blocks = pool.ReadUsage();
            ArrayCounts counts = arrays.ReadCounts();
            AllocatorCounters counters = context.Counters;
            long outstanding = blocks.Outstanding + counters[UsageFigure.Outstanding];
            return 2 * (blocks.Rents + counters[UsageFigure.Rents]) - outstanding + counts.Rents + counts.Returns + counters.Abandoned;
        }
    }

    /// <summary>Extends a period by a random part, so that pools and processes that started together do not trim at once.</summary>
    public static long Stretch(long periodMilliseconds, Random? jitter)
    {
        if (jitter is null)
        {
            return periodMilliseconds;
        }

        lock (jitter)
        {
            return periodMilliseconds + (long)(periodMilliseconds * LargestJitter * jitter.NextDouble());
        }
    }

    /// <summary>Makes random numbers that differ between processes started together: .NET Framework's seed is the time.</summary>
    public static Random CreateJitter() => new(Guid.NewGuid().GetHashCode());

    /// <summary>Returns when to look next: at the period's end, and sooner if a high load must be noticed.</summary>
    public long NextLook(long nowMilliseconds) =>
        WatchesLoad ? Math.Min(DueMilliseconds, nowMilliseconds + LookPeriodMilliseconds) : DueMilliseconds;

    public void StartPeriod(long nowMilliseconds, long milliseconds) => DueMilliseconds = nowMilliseconds + milliseconds;

    /// <summary>
    /// Serves waiting requests: growth that has waited too long fails here, and requests may fit by now without a notification. At high
    /// load it then releases all idle memory; otherwise, once a period, a part of what stayed idle. What fails is tried again at the next
    /// tick.
    /// </summary>
    public void Tick(long nowMilliseconds, long nextPeriodMilliseconds, in MemoryLoad load, Action<IBackgroundWork> runCallbacks)
    {
        bool periodEnded = nowMilliseconds >= DueMilliseconds;
        if (periodEnded)
        {
            StartPeriod(nowMilliseconds, nextPeriodMilliseconds);
        }

        try
        {
            context.Budget.Look();
            if (!HasHooks)
            {
                Trim(periodEnded, load);
            }
            else if (periodEnded || load.IsHigh)
            {
                if (periodEnded)
                {
                    _hasPeriodEnded = true;
                }

                runCallbacks(this);
            }
        }
        catch (Exception)
        {
            // The other pools still have their turn.
        }
    }

    /// <summary>As <see cref="ReleaseAll"/> for a refusal, on the thread that may call hooks.</summary>
    public void ReleaseAllLater(Action<IBackgroundWork> runCallbacks)
    {
        _isRefused = true;
        runCallbacks(this);
    }

    void IBackgroundWork.DoWork()
    {
        if (_isRefused)
        {
            _isRefused = false;
            ReleaseAll(TrimReason.Refusal);
        }

        bool periodEnded = _hasPeriodEnded;
        if (periodEnded)
        {
            _hasPeriodEnded = false;
        }

        Trim(periodEnded, Pressure.ReadLoad());
    }

    public void ReleaseAll(TrimReason reason) => idle.ReleaseAll(reason);

    private void Trim(bool periodEnded, in MemoryLoad load)
    {
        if (load.IsHigh)
        {
            idle.ReleaseAll(TrimReason.HighLoad, load);
            HeapTrimmer?.TryTrim(context.Counters);
        }
        else if (periodEnded)
        {
            idle.TrimStale(_rate, load);
        }
    }
}

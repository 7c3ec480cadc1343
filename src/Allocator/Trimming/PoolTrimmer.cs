using System;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Trimming;

/// <summary>Decides how much of one pool's idle memory goes, and when. The pool does not know it.</summary>
internal sealed class PoolTrimmer
{
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly AllocatorCounters _counters;
    private readonly PressureSource _pressure;
    private readonly double _rate;
    private readonly FencedRenter? _fences;
    private readonly MemoryBudget? _budget;
    private int _busy;

    public PoolTrimmer(
        UniformUnmanagedMemoryPool pool, AllocatorCounters counters, PressureSource pressure, TimeSpan period, double rate, FencedRenter? fences, MemoryBudget? budget)
    {
        _pool = pool;
        _counters = counters;
        _pressure = pressure;
        PeriodMilliseconds = (long)period.TotalMilliseconds;
        _rate = rate;
        _fences = fences;
        _budget = budget;
    }

    /// <summary>Gets or sets whether the scheduler looks after this pool. The scheduler's own.</summary>
    public bool IsActive { get; set; }

    public long PeriodMilliseconds { get; }

    /// <summary>Gets when the current period ends.</summary>
    public long DueMilliseconds { get; private set; }

    /// <summary>Gets whether anything is out, retained or quarantined, or somebody waits for the budget.</summary>
    public bool HasWork => _counters.CommittedBytes > 0 || _budget?.HasWaiters == true;

    /// <summary>Gets whether anything is out that a collection might find abandoned.</summary>
    public bool HasMemoryOut => _counters.MappingRentedBytes > 0 || _pool.ReadUsage().RentedBytes > 0;

    public void StartPeriod(long nowMilliseconds) => DueMilliseconds = nowMilliseconds + PeriodMilliseconds;

    /// <summary>Gives back everything idle at high load; at low load, once a period, a part of what stayed idle through it.</summary>
    /// <remarks>A tick and a collection may come here at once: one of them does the work.</remarks>
    public void Trim(long nowMilliseconds)
    {
        if (Interlocked.Exchange(ref _busy, 1) != 0)
        {
            return;
        }

        try
        {
            bool periodEnded = nowMilliseconds >= DueMilliseconds;
            if (periodEnded)
            {
                StartPeriod(nowMilliseconds);
            }

            if (_pressure.Read() == MemoryPressure.High)
            {
                _pool.Reclaimer.TrimAll();
                _fences?.ReleaseAll();
            }
            else if (periodEnded)
            {
                _pool.Reclaimer.TrimStale(_rate);
            }
        }
        finally
        {
            Volatile.Write(ref _busy, 0);
        }
    }
}

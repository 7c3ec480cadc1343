using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>
/// What one allocator holds and has done. The process-wide registry references it, so it keeps neither the allocator alive, nor any
/// outstanding memory, nor the user's hooks and waiters, which may reference both.
/// </summary>
internal sealed class AllocatorUsage : IUsageSource
{
    // These track resurrection, because a finalizer may still return memory.
    private readonly WeakReference<UniformUnmanagedMemoryPool> _pool;
    private readonly WeakReference<ArraySource> _arrays;
    private readonly WeakReference<CountedArrayPool> _countedArrays;
    private readonly WeakReference<MemoryBudget>? _budget;
    private readonly LinkedListNode<IUsageSource> _registration;
    private readonly LearnedJobs _jobs;
    private readonly long _budgetLimitBytes;
    private long _poolRents;
    private long _arrayRents;
    private long _countedArrayRents;
    private bool _isClosed;

    public AllocatorUsage(
        AllocatorCounters counters, UniformUnmanagedMemoryPool pool, ArraySource arrays, CountedArrayPool countedArrays,
        MemoryBudget? budget, LearnedJobs jobs)
    {
        Counters = counters;
        _jobs = jobs;
        _pool = new WeakReference<UniformUnmanagedMemoryPool>(pool, trackResurrection: true);
        _arrays = new WeakReference<ArraySource>(arrays, trackResurrection: true);
        _countedArrays = new WeakReference<CountedArrayPool>(countedArrays, trackResurrection: true);
        _budget = budget is null ? null : new WeakReference<MemoryBudget>(budget, trackResurrection: true);
        _budgetLimitBytes = budget is { LimitInBytes: < long.MaxValue } ? budget.LimitInBytes : 0;
        _registration = UsageRegistry.Register(this);
    }

    public AllocatorCounters Counters { get; }

    // Does not wait for arrays that were dropped together with their renter.
    public bool HasMemory
    {
        get
        {
            ArrayCounts arrays = ReadArrays();
            return Counters.CommittedBytes > 0 || Counters[UsageFigure.Outstanding] > 0 || arrays.Rents != arrays.Returns;
        }
    }

    public void AddTo(long[] figures)
    {
        PoolUsage pool = _pool.TryGetTarget(out UniformUnmanagedMemoryPool? blocks)
            ? blocks.ReadUsage()
            : new PoolUsage(0, 0, 0, 0, _poolRents);
        ArrayCounts arrays = ReadArrays();
        Counters.AddTo(figures);
        Add(UsageFigure.RentedBytes, pool.RentedBytes + arrays.RentedBytes - arrays.ReturnedBytes);
        Add(UsageFigure.RetainedBytes, pool.RetainedBytes);
        Add(UsageFigure.RetainedBytes, _countedArrays.TryGetTarget(out CountedArrayPool? countedArrays) ? countedArrays.IdleBytes : 0);
        Add(UsageFigure.QuarantinedBytes, pool.QuarantinedBytes);
        Add(UsageFigure.Outstanding, pool.Outstanding + arrays.Rents - arrays.Returns);
        Add(UsageFigure.BudgetUsedBytes, _budget is not null && _budget.TryGetTarget(out MemoryBudget? budget) ? budget.AdmittedBytes : 0);
        Add(UsageFigure.BudgetLimitBytes, _budgetLimitBytes);
        Add(UsageFigure.Rents, pool.Rents + arrays.Rents);
        Add(UsageFigure.PoolHits, Math.Max(0, pool.Rents - Counters.ColdPoolRents));

        void Add(UsageFigure figure, long value) => figures[(int)figure] += value;
    }

    public IEnumerable<MemoryJobStatistics> ReadJobs() => _jobs.Read();

    public MemoryAllocatorStatistics Read()
    {
        long[] figures = new long[(int)UsageFigure.Count];
        AddTo(figures);
        return new MemoryAllocatorStatistics
        {
            RentedBytes = Of(UsageFigure.RentedBytes),
            RetainedBytes = Of(UsageFigure.RetainedBytes),
            CommittedBytes = Of(UsageFigure.CommittedBytes),
            PeakCommittedBytes = Of(UsageFigure.PeakCommittedBytes),
            QuarantinedBytes = Of(UsageFigure.QuarantinedBytes),
            TrimmedBytes = SumOf(UsageFigure.TrimmedBytes),
            OutstandingAllocations = Of(UsageFigure.Outstanding),
            Rents = Of(UsageFigure.Rents),
            PoolHits = Of(UsageFigure.PoolHits),
            PoolMisses = Of(UsageFigure.PoolMisses),
            Trims = SumOf(UsageFigure.Trims),
            Abandoned = Of(UsageFigure.Abandoned),
            AllocationRetries = Of(UsageFigure.Retries),
            BudgetWaits = Of(UsageFigure.BudgetWaits),
            NativeHeapTrims = Of(UsageFigure.NativeHeapTrims),
            NativeHeapTrimmedBytes = Of(UsageFigure.NativeHeapTrimmedBytes),
            NativeHeapTrimTime = TimeSpan.FromMilliseconds(Of(UsageFigure.NativeHeapTrimMilliseconds)),
            BudgetUsedBytes = Of(UsageFigure.BudgetUsedBytes),
        };

        long Of(UsageFigure figure) => figures[(int)figure];
        long SumOf(UsageFigure figure) => figures.Skip((int)figure).Take(AllocatorCounters.TrimReasons).Sum();
    }

    /// <summary>Closes the pools, and ends the registration when all memory is back. A failed call may be repeated.</summary>
    public void Close(UniformUnmanagedMemoryPool pool, ArraySource arrays, CountedArrayPool countedArrays)
    {
        if (_isClosed)
        {
            return;
        }

        pool.Close();
        countedArrays.Close();
        arrays.Close();
        _poolRents = pool.ReadUsage().Rents;
        _arrayRents = arrays.Sum().Rents;
        _countedArrayRents = countedArrays.ReadCounts().Rents;
        UsageRegistry.End(_registration);
        _isClosed = true;
    }

    private ArrayCounts ReadArrays()
    {
        ArrayCounts sum = _arrays.TryGetTarget(out ArraySource? arrays) ? arrays.Sum() : Ended(_arrayRents);
        ArrayCounts counted = _countedArrays.TryGetTarget(out CountedArrayPool? own) ? own.ReadCounts() : Ended(_countedArrayRents);
        counted.AddReturnsTo(ref sum);
        counted.AddRentsTo(ref sum);
        return sum;

        static ArrayCounts Ended(long rents) => new() { Rents = rents, Returns = rents };
    }
}

using System;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>
/// What one allocator holds and has done. The registry of the metrics references it, so it must not reference the allocator, which could then never be collected; nor does it reference any memory that is out.
/// </summary>
internal sealed class AllocatorUsage : IUsageSource
{
    // Through a return of memory by a finalizer too.
    private readonly WeakReference<UniformUnmanagedMemoryPool> _weakPool;

    // Until it is closed. After that what is out keeps the pool: it has the user's hooks, and their object may have what is out.
    private UniformUnmanagedMemoryPool? _pool;
    private long _poolRents;
    private readonly ArrayRenter _arrays;
    private readonly MemoryBudget? _budget;

    public AllocatorUsage(AllocatorCounters counters, UniformUnmanagedMemoryPool pool, ArrayRenter arrays, MemoryBudget? budget)
    {
        Counters = counters;
        _pool = pool;
        _weakPool = new WeakReference<UniformUnmanagedMemoryPool>(pool, trackResurrection: true);
        _arrays = arrays;
        _budget = budget;
    }

    public AllocatorCounters Counters { get; }

    public long? BudgetLimitBytes => _budget?.LimitInBytes;

    // An array that was dropped stays out for ever in the counts: nobody waits for those.
    public bool HasMemory => Counters.CommittedBytes > 0 || Counters.OutstandingAllocations > 0;

    public MemoryAllocatorStatistics Read()
    {
        PoolUsage pool = _weakPool.TryGetTarget(out UniformUnmanagedMemoryPool? blocks) ? blocks.ReadUsage() : new PoolUsage(0, 0, 0, 0, _poolRents);
        ArrayCounts arrays = _arrays.Sum();
        return new MemoryAllocatorStatistics
        {
            RentedBytes = pool.RentedBytes + Counters.MappingRentedBytes + arrays.RentedBytes - arrays.ReturnedBytes,
            RetainedBytes = pool.RetainedBytes,
            CommittedBytes = Counters.CommittedBytes,
            PeakCommittedBytes = Counters.PeakCommittedBytes,
            QuarantinedBytes = pool.QuarantinedBytes + Counters.MappingQuarantinedBytes,
            TrimmedBytes = Counters.TrimmedBytes,
            OutstandingAllocations = pool.Outstanding + Counters.OutstandingAllocations + arrays.Rents - arrays.Returns,
            Rents = pool.Rents + Counters.MappingRents + arrays.Rents,
            PoolHits = Math.Max(0, pool.Rents - Counters.ColdPoolRents),
            PoolMisses = Counters.PoolMisses,
            Trims = Counters.Trims,
            Abandoned = Counters.Abandoned,
            AllocationRetries = Counters.Retries,
            BudgetWaits = Counters.BudgetWaits,
            BudgetUsedBytes = _budget?.UsedBytes ?? 0,
        };
    }

    /// <summary>Closes the pool, and ends the allocator's part in the metrics when all its memory is back.</summary>
    public void Close()
    {
        if (_pool is UniformUnmanagedMemoryPool pool)
        {
            pool.Close();
            _poolRents = pool.ReadUsage().Rents;
            UsageRegistry.End(this);
            _pool = null;
        }
    }
}

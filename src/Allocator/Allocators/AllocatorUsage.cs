using System;
using System.Collections.Generic;
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
    // All of them until they are gone for good: a finalizer may return memory.
    private readonly WeakReference<UniformUnmanagedMemoryPool> _pool;
    private readonly WeakReference<ArraySource> _arrays;
    private readonly WeakReference<CountedArrayPool> _countedArrays;
    private readonly WeakReference<MemoryBudget>? _budget;
    private readonly LinkedListNode<IUsageSource> _registration;
    private long _poolRents;
    private long _arrayRents;
    private bool _isClosed;

    public AllocatorUsage(
        AllocatorCounters counters, UniformUnmanagedMemoryPool pool, ArraySource arrays, CountedArrayPool countedArrays,
        MemoryBudget? budget)
    {
        Counters = counters;
        _pool = new WeakReference<UniformUnmanagedMemoryPool>(pool, trackResurrection: true);
        _arrays = new WeakReference<ArraySource>(arrays, trackResurrection: true);
        _countedArrays = new WeakReference<CountedArrayPool>(countedArrays, trackResurrection: true);
        _budget = budget is null ? null : new WeakReference<MemoryBudget>(budget, trackResurrection: true);
        BudgetLimitBytes = budget is { LimitInBytes: < long.MaxValue } ? budget.LimitInBytes : null;
        _registration = UsageRegistry.Register(this);
    }

    public AllocatorCounters Counters { get; }

    public long? BudgetLimitBytes { get; }

    // Arrays that were dropped, and their renter with them, are not waited for.
    public bool HasMemory
    {
        get
        {
            ArrayCounts arrays = ReadArrays();
            return Counters.CommittedBytes > 0 || Counters.OutstandingAllocations > 0 || arrays.Rents != arrays.Returns;
        }
    }

    public MemoryAllocatorStatistics Read()
    {
        PoolUsage pool = _pool.TryGetTarget(out UniformUnmanagedMemoryPool? blocks)
            ? blocks.ReadUsage()
            : new PoolUsage(0, 0, 0, 0, _poolRents);
        ArrayCounts arrays = ReadArrays();
        return new MemoryAllocatorStatistics
        {
            RentedBytes = pool.RentedBytes + Counters.MappingRentedBytes + arrays.RentedBytes - arrays.ReturnedBytes,
            RetainedBytes = pool.RetainedBytes + (_countedArrays.TryGetTarget(out CountedArrayPool? countedArrays)
                ? countedArrays.IdleBytes
                : 0),
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
            NativeHeapTrims = Counters.NativeHeapTrims,
            NativeHeapTrimmedBytes = Counters.NativeHeapTrimmedBytes,
            NativeHeapTrimTime = TimeSpan.FromMilliseconds(Counters.NativeHeapTrimMilliseconds),
            BudgetUsedBytes = _budget is not null && _budget.TryGetTarget(out MemoryBudget? budget) ? budget.AdmittedBytes : 0,
        };
    }

    /// <summary>Closes the pools, and ends the registration when all memory is back. One that failed may be repeated.</summary>
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
        UsageRegistry.End(_registration);
        _isClosed = true;
    }

    private ArrayCounts ReadArrays() =>
        _arrays.TryGetTarget(out ArraySource? arrays) ? arrays.Sum() : new ArrayCounts { Rents = _arrayRents, Returns = _arrayRents };
}

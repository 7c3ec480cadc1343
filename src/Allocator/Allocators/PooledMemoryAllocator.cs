using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>Decides where a request goes: to the array pool, to the block pool, or to the system.</summary>
internal sealed class PooledMemoryAllocator : MemoryAllocator
{
    private readonly AllocatorSettings _settings;
    private readonly AllocatorCounters _counters = new();
    private readonly ArrayRenter _arrays;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly PoolTrimmer _trimmer;
    private readonly MemoryRecovery _recovery;
    private readonly GroupRenter _groups;
    private readonly LifetimePolicy _policy;

    // Copies, so that the fast path reads them from here.
    private readonly long _arrayThresholdInBytes;
    private readonly long _slotLimitInBytes;
    private readonly int _blockAlignmentInBytes;
    private int _disposed;

    public PooledMemoryAllocator(AllocatorSettings settings)
    {
        MemoryAllocatorOptions options = settings.Options;
        _settings = settings;
        _policy = new LifetimePolicy(_counters, settings.Clock, settings.Scheduler.Quarantine)
        {
            AllocatorName = options.Name,
            Abandoned = options.Abandoned,
            ClearOnReturn = options.ClearOnReturn,
            QuarantineMilliseconds = (long)options.TrimPeriod.TotalMilliseconds,
        };
        _arrays = new ArrayRenter(options);
        _pool = new UniformUnmanagedMemoryPool(settings.Geometry, settings.Source, _policy);
        _arrayThresholdInBytes = settings.ArrayThresholdInBytes;
        _slotLimitInBytes = Math.Min(_pool.BlockSizeInBytes, settings.AllocationLimitInBytes);
        _blockAlignmentInBytes = _pool.BlockAlignmentInBytes;
        _trimmer = new PoolTrimmer(_pool, _counters, settings.Pressure, options.TrimPeriod, options.TrimRate);
        _recovery = new MemoryRecovery(_pool, _counters, settings.Clock, settings.Scheduler, options.TrimPeriod);
        _groups = new GroupRenter(settings, _pool, _policy, _recovery);

        settings.Scheduler.Register(_trimmer);
        MemoryDiagnostics.Register(_pool);
        MemoryDiagnostics.Register(_counters);
        MemoryDiagnostics.Register(_arrays);
    }

    // An allocator that is dropped gives its idle memory back; what is out keeps the pool alive, and goes when it comes back.
    ~PooledMemoryAllocator()
    {
        if (!Environment.HasShutdownStarted && _pool is not null)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static pool => ((UniformUnmanagedMemoryPool)pool!).Close(), _pool);
        }
    }

    public override void Prewarm(long bytes)
    {
        ThrowIfDisposed();
        if (bytes < 0)
        {
            Throw.OutOfRange(nameof(bytes), bytes, "must not be negative");
        }

        bytes = Math.Min(bytes, _settings.Geometry.MaximumBytes);
        try
        {
            for (int attempt = 1; !_pool.TryPrewarm(bytes); attempt++)
            {
                _recovery.Recover(attempt, bytes);
            }
        }
        finally
        {
            NoteSystemMemory();
        }
    }

    public override void ReleaseRetainedResources() => _pool.Reclaimer.TrimAll();

    public override MemoryAllocatorStatistics GetStatistics()
    {
        PoolUsage pool = _pool.ReadUsage();
        ArrayCounts arrays = _arrays.Sum();
        return new MemoryAllocatorStatistics
        {
            RentedBytes = pool.RentedBytes + _counters.MappingRentedBytes + arrays.RentedBytes - arrays.ReturnedBytes,
            RetainedBytes = pool.RetainedBytes,
            CommittedBytes = _counters.CommittedBytes,
            PeakCommittedBytes = _counters.PeakCommittedBytes,
            QuarantinedBytes = pool.QuarantinedBytes + _counters.MappingQuarantinedBytes,
            TrimmedBytes = _counters.TrimmedBytes,
            OutstandingAllocations = pool.Outstanding + _counters.OutstandingAllocations + _arrays.OutstandingAllocations,
            Rents = pool.Rents + _counters.MappingRents + arrays.Rents,
            PoolHits = Math.Max(0, pool.Rents - _counters.ColdPoolRents),
            PoolMisses = _counters.PoolMisses,
            Trims = _counters.Trims,
            Abandoned = _counters.Abandoned,
            AllocationRetries = _counters.Retries,
        };
    }

    public override string ToString() => _settings.Options.Name ?? base.ToString()!;

    public override void Dispose()
    {
        if (!_settings.IsShared && Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            GC.SuppressFinalize(this);
            _pool.Close();
        }
    }

    internal override LifetimeGuard RentContiguous(long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        ThrowIfDisposed();
        if (lengthInBytes <= _arrayThresholdInBytes)
        {
            // Arrays begin behind a header, on a boundary of the pointer size.
            if (alignmentInBytes <= IntPtr.Size || lengthInBytes == 0)
            {
                return _arrays.Rent((int)lengthInBytes, (options & AllocationOptions.Clean) != 0, out generation);
            }
        }
        else if (lengthInBytes <= _slotLimitInBytes && alignmentInBytes <= _blockAlignmentInBytes
            && (options & AllocationOptions.Clean) == 0 && !TraceSwitch.Rents
            && _pool.TryRentFromSlots() is BlockGuard block)
        {
            generation = block.BeginSingle(lengthInBytes);
            return block;
        }

        return RentNative(lengthInBytes, alignmentInBytes, options, out generation);
    }

    internal override GroupRental RentGroup(in GroupRequest request, AllocationOptions options)
    {
        ThrowIfDisposed();
        long bytes = RequestSize.Multiply(request.TotalLength, request.ElementSizeInBytes);
        if (bytes > _settings.AllocationLimitInBytes)
        {
            Throw.LimitExceeded(bytes, _settings.AllocationLimitInBytes);
        }

        long undividedBytes = RequestSize.Multiply(request.ElementAlignment, request.ElementSizeInBytes);
        bool isLongRow = undividedBytes > _settings.SegmentSizeInBytes;
        if (isLongRow && !request.MakeContiguousWhereNeeded)
        {
            Throw.OutOfRange(
                "elementAlignment", request.ElementAlignment, $"must be at most {_settings.SegmentSizeInBytes / request.ElementSizeInBytes}, which {_settings.SegmentSizeInBytes} bytes hold");
        }

        bool isContiguous = isLongRow || _settings.Options.PreferContiguous || (options & AllocationOptions.Contiguous) != 0;
        if (isContiguous || bytes <= Math.Max(_settings.ArrayThresholdInBytes, _settings.Geometry.BlockSizeInBytes))
        {
            LifetimeGuard guard = RentContiguous(bytes, request.AlignmentInBytes, options, out long generation);
            return GroupRenter.DescribeContiguous(guard, generation, request);
        }

        return RentMembers(request, (options & AllocationOptions.Clean) != 0);
    }

    private GroupRental RentMembers(in GroupRequest request, bool clean)
    {
        GroupRental rental;
        bool isMiss;
        try
        {
            rental = _groups.Rent(request, clean, out isMiss);
        }
        catch
        {
            // The blocks that were had meanwhile lie idle now.
            NoteSystemMemory();
            throw;
        }

        if (isMiss)
        {
            try
            {
                NoteSystemMemory();
            }
            catch
            {
                rental.Guard.Dispose(rental.Generation);
                throw;
            }

            _counters.CountMiss(servedByPool: rental.Guard is BlockGuard);
        }

        return rental;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private NativeGuard RentNative(long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        if (lengthInBytes > _settings.AllocationLimitInBytes)
        {
            Throw.LimitExceeded(lengthInBytes, _settings.AllocationLimitInBytes);
        }

        NativeGuard guard = RentWithRecovery(lengthInBytes, alignmentInBytes, out PoolOutcome outcome);
        try
        {
            if (outcome != PoolOutcome.Hit)
            {
                NoteSystemMemory();
            }

            guard.Prepare(lengthInBytes, (options & AllocationOptions.Clean) != 0);
            generation = guard.BeginAllocation();
        }
        catch
        {
            guard.Cancel();
            throw;
        }

        // A small request with a large alignment never was the pool's business.
        if (outcome != PoolOutcome.Hit && lengthInBytes > _arrayThresholdInBytes)
        {
            _counters.CountMiss(servedByPool: guard is BlockGuard);
        }

        return guard;
    }

    private NativeGuard RentWithRecovery(long lengthInBytes, int alignmentInBytes, out PoolOutcome outcome)
    {
        try
        {
            NativeGuard? guard;
            for (int attempt = 1; (guard = TryRentContiguous(lengthInBytes, alignmentInBytes, out outcome)) is null; attempt++)
            {
                _recovery.Recover(attempt, lengthInBytes);
            }

            return guard;
        }
        catch
        {
            NoteSystemMemory();
            throw;
        }
    }

    private NativeGuard? TryRentContiguous(long lengthInBytes, int alignmentInBytes, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Full;
        long blocks = (lengthInBytes + _pool.BlockSizeInBytes - 1) / _pool.BlockSizeInBytes;
        if (lengthInBytes > _arrayThresholdInBytes && alignmentInBytes <= _blockAlignmentInBytes && blocks <= _pool.MaximumBlocks)
        {
            BlockGuard? guard = blocks == 1 ? _pool.TryRent(out outcome) : _pool.TryRentRun((int)blocks, out outcome);
            if (guard is not null)
            {
                return guard;
            }

            if (outcome == PoolOutcome.Full)
            {
                // Before the pool's limit is exceeded: part of what is out may have been abandoned.
                _settings.Scheduler.RequestCollection(_settings.Options.TrimPeriod);
            }
        }

        return MappingGuard.TryAllocate(_settings.Source, lengthInBytes, alignmentInBytes, _policy);
    }

    // The system may have given memory: somebody has to look after it from now on.
    private void NoteSystemMemory()
    {
        _settings.Clock.RefreshCoarse();
        if (_trimmer.HasWork)
        {
            _settings.Scheduler.Wake(_trimmer);
        }
    }

    private void ThrowIfDisposed()
    {
        if (Volatile.Read(ref _disposed) != 0)
        {
            Throw.Disposed(nameof(MemoryAllocator));
        }
    }
}

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
    private readonly ContiguousRenter _contiguous;
    private readonly GroupRenter _groups;

    // Both or neither: none in Standard mode.
    private readonly FencedRenter? _fences;
    private readonly SafetySampler? _sampler;

    // Copies, so that the fast path reads them from here.
    private readonly long _arrayThresholdInBytes;
    private readonly long _slotLimitInBytes;
    private readonly int _blockAlignmentInBytes;
    private int _disposed;

    public PooledMemoryAllocator(AllocatorSettings settings)
    {
        MemoryAllocatorOptions options = settings.Options;
        _settings = settings;
        LifetimePolicy policy = new(_counters, settings.Clock, settings.Scheduler.Quarantine)
        {
            AllocatorName = options.Name,
            Abandoned = options.Abandoned,
            ClearOnReturn = options.ClearOnReturn,
            QuarantineMilliseconds = (long)options.TrimPeriod.TotalMilliseconds,
        };
        _arrays = new ArrayRenter(options);
        _pool = new UniformUnmanagedMemoryPool(settings.Geometry, settings.Source, policy);
        if (settings.Safety != SafetyMode.Standard)
        {
            _fences = new FencedRenter(settings.FencedSource, settings.Safety, settings.Geometry.MaximumBytes, policy);
            _sampler = new SafetySampler(settings.Safety == SafetyMode.Guarded ? 1 : options.SafetySampleInterval);
        }

        // Where some rents are watched, none takes the fast path: no length is small enough for it.
        _arrayThresholdInBytes = _fences is null ? settings.ArrayThresholdInBytes : -1;
        _slotLimitInBytes = _fences is null ? Math.Min(_pool.BlockSizeInBytes, settings.AllocationLimitInBytes) : -1;
        _blockAlignmentInBytes = _pool.BlockAlignmentInBytes;
        _trimmer = new PoolTrimmer(_pool, _counters, settings.Pressure, options, _fences);
        _recovery = new MemoryRecovery(_pool, _counters, settings.Clock, settings.Scheduler, options.TrimPeriod, _fences);
        _contiguous = new ContiguousRenter(settings, _pool, policy, _recovery, _fences);
        _groups = new GroupRenter(settings, _pool, policy, _recovery, _fences);

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
            if (_fences is not null)
            {
                ThreadPool.UnsafeQueueUserWorkItem(static fences => ((FencedRenter)fences!).Close(), _fences);
            }
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

    public override void ReleaseRetainedResources()
    {
        _pool.Reclaimer.TrimAll();
        _fences?.ThrowIfAny(_fences.ReleaseAll());
    }

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
            OutstandingAllocations = pool.Outstanding + _counters.OutstandingAllocations + arrays.Rents - arrays.Returns,
            Rents = pool.Rents + _counters.MappingRents + arrays.Rents,
            PoolHits = Math.Max(0, pool.Rents - _counters.ColdPoolRents),
            PoolMisses = _counters.PoolMisses,
            Trims = _counters.Trims,
            Abandoned = _counters.Abandoned,
            AllocationRetries = _counters.Retries,
        };
    }

    public override MemoryLoad GetMemoryLoad() => _settings.Pressure.Read();

    public override string ToString() => _settings.Options.Name ?? base.ToString()!;

    public override void Dispose()
    {
        if (!_settings.IsShared && Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            GC.SuppressFinalize(this);
            _pool.Close();
            _fences?.ThrowIfAny(_fences.Close());
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

        return RentSlow(lengthInBytes, alignmentInBytes, options, out generation);
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

        return RentMembers(request, (options & AllocationOptions.Clean) != 0, _sampler is not null && _sampler.Chooses());
    }

    private GroupRental RentMembers(in GroupRequest request, bool clean, bool isWatched)
    {
        GroupRental rental;
        bool isMiss;
        try
        {
            rental = _groups.Rent(request, clean, isWatched, out isMiss);
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
    private LifetimeGuard RentSlow(long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        if (lengthInBytes > _settings.AllocationLimitInBytes)
        {
            Throw.LimitExceeded(lengthInBytes, _settings.AllocationLimitInBytes);
        }

        bool clean = (options & AllocationOptions.Clean) != 0;
        bool isWatched = false;
        if (_sampler is not null)
        {
            isWatched = lengthInBytes > 0 && _sampler.Chooses();
            if (!isWatched && lengthInBytes <= _settings.ArrayThresholdInBytes && (alignmentInBytes <= IntPtr.Size || lengthInBytes == 0))
            {
                return _arrays.Rent((int)lengthInBytes, clean, out generation);
            }
        }

        NativeGuard guard = RentWithRecovery(lengthInBytes, alignmentInBytes, isWatched, clean, out PoolOutcome outcome);
        try
        {
            if (outcome != PoolOutcome.Hit)
            {
                NoteSystemMemory();
            }

            guard.Prepare(lengthInBytes, clean);
            generation = guard.BeginAllocation();
        }
        catch
        {
            guard.Cancel();
            throw;
        }

        // A small request with a large alignment never was the pool's business.
        if (outcome != PoolOutcome.Hit && lengthInBytes > _settings.ArrayThresholdInBytes)
        {
            _counters.CountMiss(servedByPool: guard is BlockGuard);
        }

        return guard;
    }

    private NativeGuard RentWithRecovery(long lengthInBytes, int alignmentInBytes, bool isWatched, bool clean, out PoolOutcome outcome)
    {
        try
        {
            return _contiguous.Rent(lengthInBytes, alignmentInBytes, isWatched, clean, out outcome);
        }
        catch
        {
            NoteSystemMemory();
            throw;
        }
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

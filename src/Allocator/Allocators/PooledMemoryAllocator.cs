using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Guarding;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>Decides where a request goes: to the array pool, to the block pool, or to the system.</summary>
internal sealed class PooledMemoryAllocator : MemoryAllocator, IBackgroundWork
{
    private static int s_isUnloadingPrepared;

    private readonly AllocatorSettings _settings;
    private readonly AllocatorContext _context;
    private readonly AllocatorCounters _counters;
    private readonly ArraySource _arrays;
    private readonly CountedArrayPool _countedArrays;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly IdleMemory _idle;
    private readonly PoolTrimmer _trimmer;
    private readonly MemoryRecovery _recovery;
    private readonly AllocationPipeline _pipeline;
    private readonly AllocatorUsage _usage;

    // Null without a limit.
    private readonly MemoryBudget? _budget;

    // Null in Standard mode.
    private readonly GuardedSource? _guarded;

    // Copies, so that the fast path reads them from here.
    private readonly long _arrayThresholdInBytes;
    private readonly long _readyLimitInBytes;
    private readonly int _blockSizeInBytes;
    private readonly int _blockAlignmentInBytes;
    private readonly bool _countsArrays;
    private int _disposed;
    private BackgroundState _work;

    public PooledMemoryAllocator(AllocatorSettings settings)
    {
        MemoryAllocatorOptions options = settings.Options;
        _settings = settings;
        _counters = new AllocatorCounters { AllocatorName = options.Name };
        MemoryBudget budget = settings.CreateBudget(_counters);
        _budget = budget.IsCounted ? budget : null;
        AllocatorContext context = new(_counters, settings.Clock, settings.Scheduler.Quarantine, budget)
        {
            Abandoned = options.Abandoned,
            ClearOnReturn = options.ClearOnReturn,
            PopulateMemory = options.PopulateMemory,
            CollectsToFindAbandoned = options.CollectToFindAbandoned,
            QuarantineMilliseconds = (long)options.TrimPeriod.TotalMilliseconds,
            HasHooks = options.BlockCommitted is not null || options.BlockReleasing is not null,
        };
        _context = context;
        _arrays = new ArraySource(options);
        Action requestCollection = CollectionRequest(settings.Scheduler, settings.SearchPeriod);
        _countedArrays = new CountedArrayPool(context, settings.MaximumIdleArrayBytes, requestCollection);
        BlockHooks? hooks = BlockHooks.Create(options);
        _pool = new UniformUnmanagedMemoryPool(settings.Geometry, settings.Source, context, hooks, options.KeepBlocks);
        if (settings.Safety != SafetyMode.Standard)
        {
            _guarded = new GuardedSource(
                settings.GuardedMappingSource, settings.Safety, settings.Geometry.MaximumBytes, settings.OverreadToleranceInBytes,
                context);
        }

        // No fast path (no length is below -1) if rents are watched, or if admission reads the container's files, which may throw.
        bool hasFastPath = _guarded is null && _budget?.KeepsMinimumFree != true;
        _arrayThresholdInBytes = hasFastPath ? settings.ArrayThresholdInBytes : -1;
        _blockSizeInBytes = _pool.BlockSizeInBytes;
        _readyLimitInBytes = hasFastPath
            ? Math.Min((long)BlockArena.MaximumBlocks * _blockSizeInBytes, settings.AllocationLimitInBytes)
            : -1;
        _countsArrays = settings.HonorsMemoryLimit;
        _blockAlignmentInBytes = _pool.BlockAlignmentInBytes;
        _idle = _guarded is null
            ? new IdleMemory(_counters, _pool.Idle, _countedArrays)
            : new IdleMemory(_counters, _pool.Idle, _countedArrays, _guarded);
        _trimmer = new PoolTrimmer(_pool, _countedArrays, _idle, context, settings.Pressure, options)
        {
            WatchesLoad = settings.WatchesLoad,
            HeapTrimmer = settings.HeapTrimmer,
        };
        _recovery = new MemoryRecovery(settings, _idle, _pool, context);
        _pipeline = new AllocationPipeline(settings, context, _arrays, _countedArrays, _pool, _guarded, _trimmer, _recovery);
        if (settings.IsShared)
        {
            LoadContext.OnUnloading(CloseShared);
        }

        if (NativeMapThreshold.Decide(settings.SetsNativeMapThreshold))
        {
            AllocatorEventSource.Log.NativeMapThresholdSet(NativeMapThreshold.Bytes, options.Name);
        }

        if (_budget is null)
        {
            UniformUnmanagedMemoryPool blocks = _pool;
            CountedArrayPool arrays = _countedArrays;
            budget.ReadIdleBytes = () => blocks.ReadUsage().RetainedBytes + arrays.IdleBytes;
        }

        PrepareUnloading();
        EndedGuard.Prepare();

        // Last: if the constructor throws before this, no registry knows the allocator, and its finalizer has nothing to do.
        _usage = new AllocatorUsage(_counters, _pool, _arrays, _countedArrays, _budget, Jobs);
    }

    // An allocator that is dropped releases its idle memory. Outstanding memory keeps the pool alive, and is released when it is returned.
    ~PooledMemoryAllocator()
    {
        if (!Environment.HasShutdownStarted && _usage is not null)
        {
            _context.Thread.Queue(this);
        }
    }

    public override string? Name => _settings.Options.Name;

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork() => Close();

    internal override BudgetAccount? Account => AmbientAccount.IsAnyLive ? AmbientAccount.Find(Jobs) ?? (BudgetAccount?)_budget : _budget;

    // Without a budget, jobs are admitted anyway if the container has a limit.
    internal override BudgetAccount? AccountOfJobs => Account ?? (_context.Budget.WatchesContainer ? _context.Budget : null);

    internal override LearnedJobs Jobs => _context.Budget.Jobs;

    internal override AllocatorCounters Counters => _counters;

    internal override AllocatorSettings Settings => _settings;

    public override void Prewarm(long bytes)
    {
        ThrowIfDisposed();
        Throw.IfNegative(bytes, nameof(bytes));
        bytes = Math.Min(bytes, _settings.Geometry.MaximumBytes);
        try
        {
            Refusals refusals = default;
            while (!_pool.TryPrewarm(bytes, ref refusals))
            {
                // At the budget prewarming stops: idle memory makes room for requests, not for more idle memory.
                if (refusals.RefusedBytes != 0)
                {
                    break;
                }

                _settings.Clock.Delay(_recovery.Recover(ref refusals, bytes, missingBytes: 0));
            }
        }
        finally
        {
            _pipeline.NoteSystemMemory();
        }
    }

    public override void ReleaseRetainedResources()
    {
        CorruptionFindings? findings;
        try
        {
            BlockHooks.BeginCall();
            findings = _guarded?.ReleaseAll();
            _idle.ReleaseAll(TrimReason.Requested);
            _settings.HeapTrimmer?.TryTrim(_counters);
        }
        finally
        {
            BlockHooks.EndCall();
        }

        _guarded?.ThrowIfAny(findings);
    }

    public override MemoryAllocatorStatistics GetStatistics() => _usage.Read();

    private protected override string Describe(bool inFull)
    {
        MemoryAllocatorStatistics now = GetStatistics();
        if (inFull)
        {
            return new AllocatorDescription(_settings, _counters).Write(
                now, _pool, _countedArrays, _context.Budget, Volatile.Read(ref _disposed) != 0);
        }

        string budget = _budget is { LimitInBytes: < long.MaxValue and long limit } ? $", budget {InMebibytes(limit)}" : "";
        return $"{nameof(MemoryAllocator)} {Name ?? "without a name"}: {InMebibytes(now.RentedBytes)} outstanding, "
            + $"{InMebibytes(now.RetainedBytes)} retained of {InMebibytes(_settings.Geometry.MaximumBytes)}{budget}, {_settings.Safety}";
    }

    public override MemoryLoad GetMemoryLoad() => _settings.Pressure.ReadLoad();

    public override void Dispose()
    {
        if (!_settings.IsShared && Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            GC.SuppressFinalize(this);
            CorruptionFindings? findings = null;
            try
            {
                BlockHooks.BeginCall();

                // Without a number too: jobs may wait for the container.
                _context.Budget.Close();
                findings = Close();
            }
            catch (OutOfMemoryException)
            {
                // Managed memory has run out. The finalizer, which would close the rest, is suppressed: the background thread does it.
                _context.Budget.Close();
                _context.Thread.Queue(this);
                BlockHooks.ForgetCall();
                return;
            }

            BlockHooks.EndCall();
            _guarded?.ThrowIfAny(findings);
        }
    }

    internal override LifetimeGuard? TryRentFast(
        BudgetAccount? account, long lengthInBytes, int alignmentInBytes, AllocationOptions options, bool ofGroup, out long generation)
    {
        ThrowIfDisposed();
        account ??= AmbientAccount.IsAnyLive ? Account : _budget;
        bool isPlain = (options & AllocationOptions.Clean) == 0 && !Tracing.Rents;
        if (lengthInBytes <= _arrayThresholdInBytes)
        {
            // Arrays begin behind a header, on a boundary of the pointer size.
            if (account is null && ((alignmentInBytes <= IntPtr.Size && !_countsArrays) || lengthInBytes == 0))
            {
                return _arrays.Rent((int)lengthInBytes, (options & AllocationOptions.Clean) != 0, out generation);
            }

            if (isPlain && alignmentInBytes <= IntPtr.Size && lengthInBytes > 0
                && _countedArrays.TryRentIdle((int)lengthInBytes) is CountedArrayGuard array)
            {
                if (account is null || array.TryCharge(account, array.CapacityInBytes))
                {
                    generation = array.BeginPlain((int)lengthInBytes);
                    return array;
                }

                _countedArrays.Return(array, mayKeep: true);
            }
        }
        else if (isPlain && lengthInBytes <= _readyLimitInBytes && alignmentInBytes <= _blockAlignmentInBytes)
        {
            BlockGuard? block = lengthInBytes <= _blockSizeInBytes
                ? _pool.TryRentCached()
                : _pool.TryRentReady((int)((lengthInBytes + _blockSizeInBytes - 1) / _blockSizeInBytes), ofGroup);
            if (block is not null)
            {
                if (block.IsGranted(lengthInBytes) && (account is null || block.TryCharge(account, block.CapacityInBytes)))
                {
                    generation = block.BeginPlain(lengthInBytes);
                    return block;
                }

                // The account has no room, or no earlier rent of this block was as long. Once admitted, the request finds the block in the
                // map.
                _pool.Return(block, bypassesCache: true);
            }
        }

        generation = 0;
        return null;
    }

    internal override AllocationPipeline GetPipeline()
    {
        ThrowIfDisposed();
        return _pipeline;
    }

    internal override bool TryReturnArray(byte[] array, bool clear) => _countedArrays.TryReturn(array, clear);

    // The runtime references the library's threads, callbacks and event source, and with them its code: a collectible load context could
    // not be unloaded while they exist.
    private static void PrepareUnloading()
    {
        if (Volatile.Read(ref s_isUnloadingPrepared) == 0 && Interlocked.Exchange(ref s_isUnloadingPrepared, 1) == 0)
        {
            LoadContext.OnUnloading(CloseProcess);
        }
    }

    private static void CloseProcess()
    {
        TrimTimer.Shared.Close();
        UserCallbacks.Close();
        AllocatorMeter.Close();
        RecordFile.CloseCurrent();
        AllocatorEventSource.Log.Dispose();
    }

    private void CloseShared()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            GC.SuppressFinalize(this);
            Close();
        }
    }

    private CorruptionFindings? Close()
    {
        _context.IsClosed = true;
        _usage.Close(_pool, _arrays, _countedArrays);
        return _guarded?.Close();
    }

    // Captures no options, because they reference the user's hooks: the metrics keep this delegate alive.
    private static Action CollectionRequest(TrimTimer scheduler, TimeSpan? period) =>
        () => _ = scheduler.Collections.Request(period, beforeRefusal: false);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ThrowIfDisposed()
    {
        if (Volatile.Read(ref _disposed) != 0)
        {
            Throw.Disposed(nameof(MemoryAllocator));
        }
    }
}

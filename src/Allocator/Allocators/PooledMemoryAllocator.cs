using System;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>Decides where a request goes: to the array pool, to the block pool, or to the system.</summary>
internal sealed class PooledMemoryAllocator : MemoryAllocator
{
    private readonly AllocatorSettings _settings;
    private readonly AllocatorCounters _counters;
    private readonly ArrayRenter _arrays;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly PoolTrimmer _trimmer;
    private readonly MemoryRecovery _recovery;
    private readonly RequestRouter _router;
    private readonly AllocatorUsage _usage;

    // None without a limit.
    private readonly MemoryBudget? _budget;

    // None in Standard mode.
    private readonly FencedRenter? _fences;

    // Copies, so that the fast path reads them from here.
    private readonly long _arrayThresholdInBytes;
    private readonly long _slotLimitInBytes;
    private readonly int _blockAlignmentInBytes;
    private int _disposed;

    public PooledMemoryAllocator(AllocatorSettings settings)
    {
        MemoryAllocatorOptions options = settings.Options;
        _settings = settings;
        _counters = new AllocatorCounters { AllocatorName = options.Name };
        _budget = settings.MemoryBudgetInBytes is long budget ? new MemoryBudget(budget) : null;
        LifetimePolicy policy = new(_counters, settings.Clock, settings.Scheduler.Quarantine)
        {
            AllocatorName = options.Name,
            Ceiling = new MemoryCeiling(settings.MemoryBudgetInBytes ?? long.MaxValue),
            Abandoned = options.Abandoned,
            ClearOnReturn = options.ClearOnReturn,
            QuarantineMilliseconds = (long)options.TrimPeriod.TotalMilliseconds,
        };
        _arrays = new ArrayRenter(options);
        _pool = new UniformUnmanagedMemoryPool(
            settings.Geometry, settings.Source, policy, new BlockHooks(options.BlockCommitted, options.BlockReleasing), options.KeepBlocks);
        if (settings.Safety != SafetyMode.Standard)
        {
            _fences = new FencedRenter(settings.FencedSource, settings.Safety, settings.Geometry.MaximumBytes, policy);
        }

        // Where some rents are watched, or all are counted, none takes the fast path: no length is small enough for it.
        bool hasFastPath = _fences is null && _budget is null;
        _arrayThresholdInBytes = hasFastPath ? settings.ArrayThresholdInBytes : -1;
        _slotLimitInBytes = hasFastPath ? Math.Min(_pool.BlockSizeInBytes, settings.AllocationLimitInBytes) : -1;
        _blockAlignmentInBytes = _pool.BlockAlignmentInBytes;
        _trimmer = new PoolTrimmer(_pool, _counters, settings.Pressure, options, _fences, _budget);
        _recovery = new MemoryRecovery(settings, _pool, policy, _fences);
        _router = new RequestRouter(
            settings,
            _counters,
            _arrays,
            _trimmer,
            new ContiguousRenter(settings, _pool, policy, _recovery, _fences),
            new GroupRenter(settings, _pool, policy, _recovery, _fences),
            _blockAlignmentInBytes);

        settings.Scheduler.Register(_trimmer);
        MemoryDiagnostics.Register(_pool);
        MemoryDiagnostics.Register(_counters);
        MemoryDiagnostics.Register(_arrays);
        _usage = new AllocatorUsage(_counters, _pool, _arrays, _budget);
        UsageRegistry.Register(_usage);
    }

    // An allocator that is dropped gives its idle memory back; what is out keeps the pool alive, and goes when it comes back.
    ~PooledMemoryAllocator()
    {
        if (!Environment.HasShutdownStarted && _usage is not null)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static usage => ((AllocatorUsage)usage!).Close(), _usage);
            if (_fences is not null)
            {
                ThreadPool.UnsafeQueueUserWorkItem(static fences => ((FencedRenter)fences!).Close(), _fences);
            }
        }
    }

    internal override BudgetAccount? Account => _budget;

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
            MemoryRecovery.BeginAttempt();
            for (int attempt = 1; !_pool.TryPrewarm(bytes); attempt++)
            {
                // At the budget it stops: idle memory makes room for requests, not for more idle memory.
                if (MemoryCeiling.WasRefused)
                {
                    break;
                }

                _recovery.Recover(attempt, bytes, missingBytes: 0);
                MemoryRecovery.BeginAttempt();
            }
        }
        finally
        {
            _router.NoteSystemMemory();
        }
    }

    public override void ReleaseRetainedResources()
    {
        _pool.Reclaimer.TrimAll(TrimReason.Requested);
        CorruptionFindings? findings = _fences?.ReleaseAll();
        _pool.Hooks.ThrowIfAny();
        ThrowIfCorrupted(findings);
    }

    public override MemoryAllocatorStatistics GetStatistics() => _usage.Read();

    public override MemoryLoad GetMemoryLoad() => _settings.Pressure.Read();

    public override string ToString() => _settings.Options.Name ?? base.ToString()!;

    public override void Dispose()
    {
        if (!_settings.IsShared && Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            GC.SuppressFinalize(this);
            _budget?.Close();
            _usage.Close();
            CorruptionFindings? findings = _fences?.Close();
            _pool.Hooks.ThrowIfAny();
            ThrowIfCorrupted(findings);
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

        return _router.RentContiguous(_budget, lengthInBytes, alignmentInBytes, options, out generation);
    }

    internal override RequestRouter GetRouter()
    {
        ThrowIfDisposed();
        return _router;
    }

    private void ThrowIfCorrupted(CorruptionFindings? findings)
    {
        if (findings is not null)
        {
            _fences!.ThrowIfAny(findings);
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

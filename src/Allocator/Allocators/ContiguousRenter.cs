using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Rents one run of memory: between fences where that is asked for, else a block or a run of blocks of the pool, else a mapping from the system.</summary>
internal sealed class ContiguousRenter
{
    private readonly AllocatorSettings _settings;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly LifetimePolicy _policy;
    private readonly MemoryRecovery _recovery;
    private readonly FencedRenter? _fences;

    public ContiguousRenter(
        AllocatorSettings settings, UniformUnmanagedMemoryPool pool, LifetimePolicy policy, MemoryRecovery recovery, FencedRenter? fences)
    {
        _settings = settings;
        _pool = pool;
        _policy = policy;
        _recovery = recovery;
        _fences = fences;
    }

    /// <summary>Rents, and gives idle memory back and tries again where the system refuses. The rent has not begun.</summary>
    public NativeGuard Rent(long lengthInBytes, int alignmentInBytes, out PoolOutcome outcome)
    {
        NativeGuard? guard;
        for (int attempt = 1; (guard = TryRent(lengthInBytes, alignmentInBytes, out outcome)) is null; attempt++)
        {
            _recovery.Recover(attempt, lengthInBytes);
        }

        return guard;
    }

    /// <summary>Does the same between fences. pre: there are some.</summary>
    public NativeGuard RentFenced(long lengthInBytes, int alignmentInBytes, bool clean)
    {
        NativeGuard? guard;
        for (int attempt = 1; (guard = _fences!.TryRent(lengthInBytes, alignmentInBytes, clean)) is null; attempt++)
        {
            _recovery.Recover(attempt, lengthInBytes);
        }

        return guard;
    }

    private NativeGuard? TryRent(long lengthInBytes, int alignmentInBytes, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Full;
        long blocks = (lengthInBytes + _pool.BlockSizeInBytes - 1) / _pool.BlockSizeInBytes;
        if (lengthInBytes > _settings.ArrayThresholdInBytes && alignmentInBytes <= _pool.BlockAlignmentInBytes && blocks <= _pool.MaximumBlocks)
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
}

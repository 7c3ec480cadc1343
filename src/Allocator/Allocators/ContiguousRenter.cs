using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;
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
    private readonly CountedArrayPool _arrays;

    public ContiguousRenter(
        AllocatorSettings settings,
        UniformUnmanagedMemoryPool pool,
        CountedArrayPool arrays,
        LifetimePolicy policy,
        MemoryRecovery recovery,
        FencedRenter? fences)
    {
        _settings = settings;
        _pool = pool;
        _policy = policy;
        _recovery = recovery;
        _fences = fences;
        _arrays = arrays;
    }

    /// <summary>Rents an array that counts against a budget, and gives idle memory back first where too much is held. The rent has not begun.</summary>
    /// <param name="lengthInBytes">The length of the buffer.</param>
    /// <param name="outcome">Whether there was an idle array.</param>
    public CountedArrayGuard RentArray(int lengthInBytes, out PoolOutcome outcome)
    {
        for (Refusals refusals = default; ;)
        {
            if (_arrays.TryRent(lengthInBytes, ref refusals, out bool isNew) is CountedArrayGuard guard)
            {
                outcome = isNew ? PoolOutcome.Cold : PoolOutcome.Hit;
                return guard;
            }

            _recovery.Recover(ref refusals, lengthInBytes, missingBytes: 0);
        }
    }

    /// <summary>Counts what others are about to allocate as held, and gives idle memory back for it.</summary>
    /// <param name="permit">What was taken from the budget for it.</param>
    /// <param name="bytes">The bytes, which the permit has none of where there is no budget.</param>
    public ExternalMemory CountExternal(in BudgetPermit permit, long bytes)
    {
        for (Refusals refusals = default; ;)
        {
            if (_policy.Budget.TryCommitExternal(bytes, ref refusals, out long announcement))
            {
                try
                {
                    return new ExternalMemory(_policy.Budget, permit, bytes, announcement);
                }
                catch
                {
                    _policy.Budget.ReleaseExternal(bytes, announcement);
                    throw;
                }
            }

            _recovery.Recover(ref refusals, bytes, missingBytes: 0);
        }
    }

    /// <summary>Rents, and gives idle memory back and tries again where the system refuses. The rent has not begun.</summary>
    /// <param name="lengthInBytes">The length of the buffer.</param>
    /// <param name="alignmentInBytes">Its alignment.</param>
    /// <param name="isWatched">Whether it lies between fences. pre: there are some.</param>
    /// <param name="clean">Whether it is going to be cleared.</param>
    /// <param name="outcome">What the pool made of it.</param>
    public NativeGuard Rent(long lengthInBytes, int alignmentInBytes, bool isWatched, bool clean, out PoolOutcome outcome)
    {
        for (Refusals refusals = default; ;)
        {
            outcome = PoolOutcome.Full;
            NativeGuard? guard = isWatched
                ? _fences!.TryRent(lengthInBytes, alignmentInBytes, clean, ref refusals)
                : TryRentUnwatched(lengthInBytes, alignmentInBytes, ref refusals, out outcome);
            if (guard is not null)
            {
                return guard;
            }

            _recovery.Recover(ref refusals, lengthInBytes, missingBytes: 0);
        }
    }

    private NativeGuard? TryRentUnwatched(long lengthInBytes, int alignmentInBytes, ref Refusals refusals, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Full;
        long blocks = (lengthInBytes + _pool.BlockSizeInBytes - 1) / _pool.BlockSizeInBytes;
        bool isSmall = lengthInBytes <= _settings.ArrayThresholdInBytes;
        if ((!isSmall || alignmentInBytes > AllocatorSettings.LargestHeapAlignment) && alignmentInBytes <= _pool.BlockAlignmentInBytes && blocks <= _pool.MaximumBlocks)
        {
            BlockGuard? guard = blocks == 1 ? _pool.TryRent(ref refusals, out outcome) : _pool.TryRentRun((int)blocks, ref refusals, out outcome);
            if (guard is not null)
            {
                return guard;
            }

            if (outcome == PoolOutcome.Full)
            {
                // Before the pool's limit is exceeded: part of what is out may have been abandoned.
                _settings.RequestCollection(beforeRefusal: false);
            }
        }

        NativeMemorySource source = isSmall ? _settings.SmallSource : _settings.Source;
        return MappingGuard.TryAllocate(source, lengthInBytes, alignmentInBytes, _policy, ref refusals);
    }
}

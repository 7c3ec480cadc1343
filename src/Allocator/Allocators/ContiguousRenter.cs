using Allocator.Budgeting;
using Allocator.Guarding;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Rents one run of memory: between fences where that is asked for, else a block or a run of blocks of the pool, else a mapping from the system.</summary>
internal sealed class ContiguousRenter
{
    private readonly AllocatorSettings _settings;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly AllocatorContext _context;
    private readonly MemoryRecovery _recovery;
    private readonly GuardedSource? _fences;
    private readonly CountedArrayPool _arrays;

    public ContiguousRenter(
        AllocatorSettings settings,
        UniformUnmanagedMemoryPool pool,
        CountedArrayPool arrays,
        AllocatorContext context,
        MemoryRecovery recovery,
        GuardedSource? fences)
    {
        _settings = settings;
        _pool = pool;
        _context = context;
        _recovery = recovery;
        _fences = fences;
        _arrays = arrays;
    }

    /// <summary>Rents an array that counts against a budget, and gives idle memory back first where too much is held. The rent has not begun.</summary>
    /// <param name="lengthInBytes">The length of the buffer.</param>
    /// <param name="outcome">Whether there was an idle array.</param>
    public CountedArrayGuard RentArray(int lengthInBytes, out PoolOutcome outcome)
    {
        for (MemoryRecovery.Refusals refusals = default; ;)
        {
            MemoryRecovery.BeginAttempt(refusals);
            if (_arrays.TryRent(lengthInBytes, out bool isNew) is CountedArrayGuard guard)
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
        for (MemoryRecovery.Refusals refusals = default; ;)
        {
            MemoryRecovery.BeginAttempt(refusals);
            if (_context.Ceiling.TryHoldAnnounced(bytes, out long announcement))
            {
                try
                {
                    return new ExternalMemory(_context.Ceiling, permit, bytes, announcement);
                }
                catch
                {
                    _context.Ceiling.ReleaseAnnounced(bytes, announcement);
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
    public FinalizableGuard Rent(long lengthInBytes, int alignmentInBytes, bool isWatched, bool clean, out PoolOutcome outcome)
    {
        for (MemoryRecovery.Refusals refusals = default; ;)
        {
            MemoryRecovery.BeginAttempt(refusals);
            outcome = PoolOutcome.Full;
            FinalizableGuard? guard = isWatched
                ? _fences!.TryRent(lengthInBytes, alignmentInBytes, clean)
                : TryRentUnwatched(lengthInBytes, alignmentInBytes, out outcome);
            if (guard is not null)
            {
                return guard;
            }

            _recovery.Recover(ref refusals, lengthInBytes, missingBytes: 0);
        }
    }

    private FinalizableGuard? TryRentUnwatched(long lengthInBytes, int alignmentInBytes, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Full;
        long blocks = (lengthInBytes + _pool.BlockSizeInBytes - 1) / _pool.BlockSizeInBytes;
        bool isSmall = lengthInBytes <= _settings.ArrayThresholdInBytes;
        if ((!isSmall || alignmentInBytes > AllocatorSettings.LargestHeapAlignment) && alignmentInBytes <= _pool.BlockAlignmentInBytes && blocks <= _pool.MaximumBlocks)
        {
            BlockGuard? guard = blocks == 1 ? _pool.TryRent(out outcome) : _pool.TryRentRun((int)blocks, out outcome);
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

        return MappingGuard.TryAllocate(isSmall ? _settings.SmallSource : _settings.Source, lengthInBytes, alignmentInBytes, _context);
    }
}

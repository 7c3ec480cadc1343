using System.Numerics;
using System.Threading;
using Allocator.Budgeting;

namespace Allocator.Pooling;

/// <content>Where the memory behind blocks comes and goes. Whoever holds a block calls this for it.</content>
internal sealed partial class BlockArena
{
    /// <summary>Puts memory behind blocks that have none. pre: all held by the caller.</summary>
    /// <returns>False where the system refuses, or as much is held as may be. Blocks that got memory keep it.</returns>
    /// <remarks>Where the user's own code throws, the blocks are back in the map, and no longer the caller's.</remarks>
    public bool TryReady(int first, int count, ref Refusals refusals, out bool cold)
    {
        ulong blocks = BlockBits.Mask(count) << first;
        ulong missing = blocks & ~Committed;
        ulong unregistered = blocks & Unregistered;
        cold = missing != 0;
        if ((missing | unregistered) == 0)
        {
            return true;
        }

        try
        {
            Register(unregistered);
            return TryCommit(missing, ref refusals);
        }
        catch
        {
            GiveUp(blocks);
            throw;
        }
    }

    /// <summary>Makes one run of blocks that the caller has claimed, with memory behind all of them. The rent has not begun.</summary>
    /// <returns>The guard; null where the outcome says why not, and then the blocks are no longer the caller's.</returns>
    public BlockGuard? TryTake(int first, int count, ref Refusals refusals, out PoolOutcome outcome)
    {
        if (!TryReady(first, count, ref refusals, out bool cold))
        {
            Release(first, count);
            outcome = PoolOutcome.Refused;
            return null;
        }

        outcome = cold ? PoolOutcome.Cold : PoolOutcome.Hit;
        return TakeGuard(first, count).ForRenter();
    }

    /// <summary>Puts held blocks back into the map, for a caller that does not go on.</summary>
    public void GiveUp(ulong blocks)
    {
        Interlocked.Or(ref _free.Value, (long)blocks);
        _pool.ReleaseIfClosed();
    }

    /// <summary>Makes a block's pages resident. pre: held, with memory behind it.</summary>
    public void Prefault(int index)
    {
        _storage.Prefault(_addresses[index]);
        Idleness.MarkUsed(1UL << index);
    }

    /// <summary>Takes the memory from a block. pre: held by the caller.</summary>
    /// <returns>False where it has none, or the user's own code or the system refuses.</returns>
    public bool TryPurge(int index)
    {
        nint address = _addresses[index];
        bool isRegistered = IsRegistered(index);
        if (!IsResident(index) || (isRegistered && !_pool.Hooks.TryRelease(address, BlockSizeInBytes)))
        {
            return false;
        }

        _context.Budget.NoteReleasing(address);
        if (!_storage.TryPurge(index, address))
        {
            if (isRegistered && !_pool.Hooks.TryTakeBackRelease(address, BlockSizeInBytes))
            {
                Interlocked.Or(ref _unregistered.Value, 1L << index);
            }

            return false;
        }

        NoteReleased(index);
        return true;
    }

    /// <summary>Gives all memory and addresses back for good, where no block is out.</summary>
    public bool TryReleaseAll()
    {
        // The bits never come back, so this happens once.
        if (!TryClaim(_all, _all))
        {
            return false;
        }

        for (int i = 0; i < BlockCount; i++)
        {
            // Blocks that came back after the last trim, and those that could not be purged: what still has memory loses it with the addresses.
            if (IsResident(i))
            {
                if (IsRegistered(i))
                {
                    _pool.Hooks.TryRelease(_addresses[i], BlockSizeInBytes);
                }

                _context.Budget.NoteReleasing(_addresses[i]);
                _storage.TryPurge(i, _addresses[i]);
                NoteReleased(i);
            }
        }

        _storage.Release();
        return true;
    }

    private bool TryCommit(ulong missing, ref Refusals refusals)
    {
        // For all or for none: two threads that each had half of what they need within the budget would take it from each other for ever.
        if (!_context.Budget.TryCommit(BytesOf(missing), ref refusals))
        {
            return false;
        }

        for (; missing != 0; missing &= missing - 1)
        {
            int index = BitOperations.TrailingZeroCount(missing);
            nint address = _storage.TryCommit(index, out bool zeroed);
            if (address == 0)
            {
                _context.Budget.CancelCommit(BytesOf(missing));
                return false;
            }

            try
            {
                _pool.Hooks.Commit(address, BlockSizeInBytes);
            }
            catch
            {
                bool isBack = _storage.TryPurge(index, address);
                _context.Budget.CancelCommit(BytesOf(isBack ? missing : missing & (missing - 1)));
                if (!isBack)
                {
                    // The system refuses to take it, so it is there, and counts.
                    Interlocked.Or(ref _unregistered.Value, 1L << index);
                    NoteCommitted(index, address, zeroed: false);
                }

                throw;
            }

            NoteCommitted(index, address, zeroed);
        }

        return true;
    }

    // The user's code threw when it was told of these blocks, and they kept their memory. It is told again before a renter gets them.
    private void Register(ulong unregistered)
    {
        for (; unregistered != 0; unregistered &= unregistered - 1)
        {
            int index = BitOperations.TrailingZeroCount(unregistered);
            _pool.Hooks.Commit(_addresses[index], BlockSizeInBytes);
            Interlocked.And(ref _unregistered.Value, ~(1L << index));
        }
    }

    private void NoteCommitted(int index, nint address, bool zeroed)
    {
        _addresses[index] = address;
        if (zeroed)
        {
            Interlocked.Or(ref _zeroed.Value, 1L << index);
        }

        Interlocked.Or(ref _committed.Value, 1L << index);
        _context.Budget.NoteCommitted(address, BlockSizeInBytes);
        _context.Counters.AddCommitted(BlockSizeInBytes);
    }

    private void NoteReleased(int index)
    {
        if (!IsRegistered(index))
        {
            Interlocked.And(ref _unregistered.Value, ~(1L << index));
        }

        Interlocked.And(ref _committed.Value, ~(1L << index));
        _context.NoteFreed(BlockSizeInBytes);
    }

    private long BytesOf(ulong blocks) => (long)BitOperations.PopCount(blocks) * BlockSizeInBytes;
}

using System.Numerics;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <content>
/// Commits and releases the memory behind blocks. The thread that holds a block calls this for it. Blocks lie side by side in one
/// reservation, and a purged block keeps its addresses. If the source makes no reservations, a purge frees the block.
/// </content>
internal sealed partial class BlockArena
{
    private readonly NativeMemorySource _source;
    private readonly nint _reservation;

    private VirtualMemorySource Reserving => (VirtualMemorySource)_source;

    /// <summary>Puts memory behind those blocks that have none. The caller holds all of them.</summary>
    /// <returns>False if the system, the budget or the container refuses. Blocks that got memory keep it.</returns>
    /// <remarks>If a user hook throws, the blocks are back in the map, and the caller no longer holds them.</remarks>
    public bool TryReady(int first, int count, ref Refusals refusals, out bool cold)
    {
        ulong blocks = BlockBits.Mask(count) << first;
        AssertHeld(blocks);
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
            ReturnUnused(blocks);
            throw;
        }
    }

    /// <summary>Makes one run of blocks that the caller has claimed, with memory behind all of them. The rent has not begun.</summary>
    /// <returns>The guard. Null if it failed; the outcome says why, and the caller no longer holds the blocks.</returns>
    public BlockGuard? TryTake(int first, int count, ref Refusals refusals, out PoolOutcome outcome)
    {
        if (!TryReady(first, count, ref refusals, out bool cold))
        {
            Return(BlockBits.Mask(count) << first);
            outcome = PoolOutcome.Refused;
            return null;
        }

        outcome = cold ? PoolOutcome.Cold : PoolOutcome.Hit;
        return TakeGuard(first, count).ForRenter();
    }

    /// <summary>Takes free blocks with memory in one step: the best place for a run, the lowest for a group. Null if none.</summary>
    public BlockGuard? TryTakeReady(int count, bool ofGroup)
    {
        ulong free = Free;
        ulong ready = IsContiguous ? free & Committed & ~Unregistered : 0;
        int first = ready == 0 ? -1
            : !ofGroup ? BlockBits.FindReady(free, ready, count)
            : BitOperations.TrailingZeroCount(ready) is int lowest && BlockBits.LengthAt(ready, lowest) >= count ? lowest : -1;
        ulong run = first < 0 ? 0 : BlockBits.Mask(count) << first;
        if (run == 0 || !TryClaim(free, run))
        {
            return null;
        }

        // Checked now that they are held: a trim may have taken their memory although the map looks as before.
        if ((run & (~Committed | Unregistered)) != 0)
        {
            ReturnUnused(run);
            return null;
        }

        return TakeGuard(first, count).ForRenter();
    }

    /// <summary>Puts held blocks back into the map because the caller does not need them.</summary>
    public void ReturnUnused(ulong blocks)
    {
        Return(blocks);
        _pool.ReleaseIfClosed();
    }

    /// <summary>Populates those bytes, and notes them as granted. False if the system refuses some. The caller holds the run.</summary>
    public bool TryPopulate(int first, int count, long usedBytes)
    {
        AssertHeld(BlockBits.Mask(count) << first);
        for (int i = 0; i < count; i++)
        {
            BlockRecord block = Records[first + i];
            long start = block.GrantedBytes;
            long length = EndOf(i, usedBytes) - start;
            if (length > 0)
            {
                if (!_source.TryPopulate(_addresses[first + i] + (nint)start, length))
                {
                    return false;
                }

                // Block by block: what the figures already contain is no longer in flight.
                block.GrantedBytes += length;
                Commitment.NoteGranted(_context, length);
            }
        }

        return true;
    }

    /// <summary>Makes a whole block resident. The caller holds it, and it has memory.</summary>
    public bool TryPrewarm(BlockGuard guard, ref Refusals refusals)
    {
        MarkUsed(1UL << guard.Index);
        guard.NoteUse(BlockSizeInBytes);
        return Commitment.TryPopulate(guard, ref refusals)
            && (_context.Populates || _source.TryPopulate(guard.Address, BlockSizeInBytes));
    }

    /// <summary>Releases the memory of a block that the caller holds.</summary>
    /// <returns>False if it has none, or if the system or the user's own code refuses.</returns>
    public bool TryRelease(int index)
    {
        AssertHeld(1UL << index);
        nint address = _addresses[index];
        bool isRegistered = IsRegistered(index);
        if (!IsResident(index) || (isRegistered && _pool.Hooks?.TryRelease(address, BlockSizeInBytes) == false))
        {
            return false;
        }

        if (!TryReleaseMemory(index, address))
        {
            if (isRegistered && _pool.Hooks?.TryCancelRelease(address, BlockSizeInBytes) == false)
            {
                Interlocked.Or(ref _unregistered.Value, 1L << index);
            }

            return false;
        }

        NoteReleased(index);
        return true;
    }

    /// <summary>Returns all memory and addresses to the system for good, if no block is outstanding.</summary>
    public bool TryReleaseAll()
    {
        // The bits are never set again, so only one call succeeds.
        if (!TryClaim(_all, _all))
        {
            return false;
        }

        for (int i = 0; i < BlockCount; i++)
        {
            // Some blocks were returned after the last trim, or could not be purged. Their memory is released together with the addresses.
            if (IsResident(i))
            {
                if (IsRegistered(i))
                {
                    _pool.Hooks?.TryRelease(_addresses[i], BlockSizeInBytes);
                }

                TryReleaseMemory(i, _addresses[i]);
                NoteReleased(i);
            }
        }

        if (IsContiguous)
        {
            _source.Free(_reservation, (long)BlockSizeInBytes * BlockCount);
        }

        return true;
    }

    // Returns the block's address, or 0 if the system refuses.
    private nint TryCommit(int index, out bool zeroed)
    {
        Debug.Assert((uint)index < (uint)BlockCount);
        if (!IsContiguous)
        {
            return _source.TryAllocate(BlockSizeInBytes, NativeMemorySource.MinimumAlignment, out zeroed);
        }

        nint address = _reservation + (nint)index * BlockSizeInBytes;
        return Reserving.TryCommit(address, BlockSizeInBytes, out zeroed) ? address : 0;
    }

    // False if the system refuses; the block then keeps its memory.
    private bool TryReleaseMemory(int index, nint address)
    {
        if (!IsContiguous)
        {
            _source.Free(address, BlockSizeInBytes);
            return true;
        }

        return Reserving.TryPurge(address, BlockSizeInBytes);
    }

    private bool TryCommit(ulong missing, ref Refusals refusals)
    {
        long bytes = (long)BitOperations.PopCount(missing) * BlockSizeInBytes;

        // For all blocks or for none: two threads that each had half of what they need would take it from each other for ever.
        if (!Commitment.TryTake(_context, bytes, !_context.Populates, ref refusals, out Commitment commitment))
        {
            return false;
        }

        for (; missing != 0; missing &= missing - 1)
        {
            int index = BitOperations.TrailingZeroCount(missing);
            nint address = TryCommit(index, out bool zeroed);
            if (address == 0)
            {
                commitment.Cancel();
                return false;
            }

            try
            {
                _pool.Hooks?.Commit(address, BlockSizeInBytes);
            }
            catch
            {
                MarkDirty(1UL << index);
                if (!TryReleaseMemory(index, address))
                {
                    // The system refused to take the memory back, so it is still there and counts as committed.
                    Interlocked.Or(ref _unregistered.Value, 1L << index);
                    NoteCommitted(index, address, zeroed: false, ref commitment);
                }

                commitment.Cancel();
                throw;
            }

            NoteCommitted(index, address, zeroed, ref commitment);
        }

        return true;
    }

    // BlockCommitted threw for these blocks, and they kept their memory. It is called again before a renter gets them.
    private void Register(ulong unregistered)
    {
        for (; unregistered != 0; unregistered &= unregistered - 1)
        {
            int index = BitOperations.TrailingZeroCount(unregistered);
            _pool.Hooks!.Commit(_addresses[index], BlockSizeInBytes);
            Interlocked.And(ref _unregistered.Value, ~(1L << index));
        }
    }

    private void NoteCommitted(int index, nint address, bool zeroed, ref Commitment commitment)
    {
        Debug.Assert(!IsResident(index), "The block has memory.");
        _addresses[index] = address;
        if (zeroed)
        {
            Interlocked.Or(ref _zeroed.Value, 1L << index);
        }

        Interlocked.Or(ref _committed.Value, 1L << index);
        Records[index].GrantedBytes = commitment.IsGranted ? BlockSizeInBytes : 0;
        commitment.Commit(BlockSizeInBytes);
    }

    private void NoteReleased(int index)
    {
        Debug.Assert(IsResident(index), "The block has no memory.");
        if (!IsRegistered(index))
        {
            Interlocked.And(ref _unregistered.Value, ~(1L << index));
        }

        long granted = Records[index].GrantedBytes;
        Records[index].GrantedBytes = 0;
        Interlocked.And(ref _committed.Value, ~(1L << index));
        Commitment.EndRelease(_context, BlockSizeInBytes, granted);
    }

    private bool IsRegistered(int index) => (Unregistered & (1UL << index)) == 0;
}

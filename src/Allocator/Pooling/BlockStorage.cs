using System.Diagnostics;
using System.Threading;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// The memory behind one arena's blocks, as its kind of native memory can give it. Thread-safe for different blocks; one block belongs to
/// the thread that holds it.
/// </summary>
internal abstract class BlockStorage
{
    /// <summary>Gets whether blocks with adjacent numbers are adjacent in memory.</summary>
    public abstract bool IsContiguous { get; }

    /// <summary>Makes storage for an arena's blocks: in one reservation where the source has such, else block by block.</summary>
    /// <returns>Null where the system refuses the reservation.</returns>
    public static BlockStorage? TryCreate(NativeMemorySource source, int blockSizeInBytes, int blockCount)
    {
        if (source is not VirtualMemorySource reserving)
        {
            return new Separate(source, blockSizeInBytes);
        }

        nint address = reserving.TryReserve((long)blockSizeInBytes * blockCount, blockSizeInBytes);
        return address == 0 ? null : new Reserved(reserving, address, blockSizeInBytes, blockCount);
    }

    /// <summary>Puts memory behind a block that has none.</summary>
    /// <returns>The block's address, or 0 where the system refuses.</returns>
    public abstract nint TryCommit(int index, out bool zeroed);

    /// <summary>Gives a block's memory back to the system.</summary>
    /// <returns>False where the system refuses; the block then keeps it.</returns>
    public abstract bool TryPurge(int index, nint address);

    /// <summary>Makes the pages of a block with memory resident.</summary>
    public abstract void Prefault(nint address);

    /// <summary>Gives everything back that belongs to no single block. No block is outstanding.</summary>
    public abstract void Release();

    /// <summary>Blocks side by side in one reservation: a purged block keeps its addresses, and runs of blocks are runs of memory.</summary>
    private sealed class Reserved : BlockStorage
    {
        private readonly VirtualMemorySource _source;
        private readonly nint _address;
        private readonly int _blockSizeInBytes;
        private readonly int _blockCount;
        private long _purged;

        public Reserved(VirtualMemorySource source, nint address, int blockSizeInBytes, int blockCount)
        {
            _source = source;
            _address = address;
            _blockSizeInBytes = blockSizeInBytes;
            _blockCount = blockCount;
        }

        public override bool IsContiguous => true;

        public override nint TryCommit(int index, out bool zeroed)
        {
            Debug.Assert((uint)index < (uint)_blockCount);
            nint address = _address + (nint)index * _blockSizeInBytes;
            bool committed = _source.TryCommit(address, _blockSizeInBytes, out zeroed);

            // Never touched since it was mapped: zero, also where the system does not zero what was purged.
            zeroed |= (Volatile.Read(ref _purged) & (1L << index)) == 0 && _source.MapsZeroed;
            return committed ? address : 0;
        }

        public override bool TryPurge(int index, nint address)
        {
            Interlocked.Or(ref _purged, 1L << index);
            return _source.TryPurge(address, _blockSizeInBytes);
        }

        public override void Prefault(nint address) => _source.Prefault(address, _blockSizeInBytes);

        public override void Release() => _source.Release(_address, (long)_blockSizeInBytes * _blockCount);
    }

    /// <summary>Blocks that are allocations of a heap: a purge frees the block, and its next memory lies elsewhere.</summary>
    private sealed class Separate : BlockStorage
    {
        private readonly NativeMemorySource _source;
        private readonly int _blockSizeInBytes;

        public Separate(NativeMemorySource source, int blockSizeInBytes)
        {
            _source = source;
            _blockSizeInBytes = blockSizeInBytes;
        }

        public override bool IsContiguous => false;

        public override nint TryCommit(int index, out bool zeroed) =>
            _source.TryAllocate(_blockSizeInBytes, NativeMemorySource.MinimumAlignment, out zeroed);

        public override bool TryPurge(int index, nint address)
        {
            _source.Free(address, _blockSizeInBytes);
            return true;
        }

        // A heap's own bookkeeping decides what is resident; touching is all that can be done.
        public override void Prefault(nint address) => NativeBytes.Touch(address, _blockSizeInBytes);

        public override void Release()
        {
        }
    }
}

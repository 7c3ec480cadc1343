using System.Threading;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>Blocks side by side in one reservation: a purged block keeps its addresses, and runs of blocks are runs of memory.</summary>
internal sealed class ReservedBlockStorage : BlockStorage
{
    private readonly VirtualMemorySource _source;
    private readonly nint _address;
    private readonly int _blockSizeInBytes;
    private readonly int _blockCount;
    private long _purged;

    private ReservedBlockStorage(VirtualMemorySource source, nint address, int blockSizeInBytes, int blockCount)
    {
        _source = source;
        _address = address;
        _blockSizeInBytes = blockSizeInBytes;
        _blockCount = blockCount;
    }

    public override bool IsContiguous => true;

    /// <summary>Reserves addresses for the blocks; null where the system refuses.</summary>
    public static ReservedBlockStorage? TryCreate(VirtualMemorySource source, int blockSizeInBytes, int blockCount)
    {
        nint address = source.TryReserve((long)blockSizeInBytes * blockCount, blockSizeInBytes);
        return address == 0 ? null : new ReservedBlockStorage(source, address, blockSizeInBytes, blockCount);
    }

    public override nint TryCommit(int index, out bool zeroed)
    {
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

    public override void Populate(nint address) => _source.Prefault(address, _blockSizeInBytes);

    public override void Release() => _source.Release(_address, (long)_blockSizeInBytes * _blockCount);
}

using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>Blocks that are allocations of a heap, each by itself: a purge frees the block, and its next memory lies elsewhere.</summary>
internal sealed class SeparateBlockStorage : BlockStorage
{
    private readonly NativeMemorySource _source;
    private readonly int _blockSizeInBytes;

    public SeparateBlockStorage(NativeMemorySource source, int blockSizeInBytes)
    {
        _source = source;
        _blockSizeInBytes = blockSizeInBytes;
    }

    public override bool IsContiguous => false;

    public override nint TryCommit(int index, out bool zeroed) => _source.TryAllocate(_blockSizeInBytes, NativeMemorySource.MinimumAlignment, out zeroed);

    public override bool TryPurge(int index, nint address)
    {
        _source.Free(address, _blockSizeInBytes);
        return true;
    }

    public override void Populate(nint address)
    {
        // A heap's own bookkeeping decides what is resident; touching is all that can be done.
        NativeBytes.Touch(address, _blockSizeInBytes);
    }

    public override void Release()
    {
    }
}

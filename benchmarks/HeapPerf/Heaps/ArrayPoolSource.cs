using System;
using System.Buffers;

namespace HeapPerf.Heaps;

/// <summary>The runtime's shared pool of arrays.</summary>
internal readonly struct ArrayPoolSource : IBlockSource<ArrayBlock>
{
    /// <inheritdoc/>
    public ArrayBlock Allocate(int sizeInBytes) => new(ArrayPool<byte>.Shared.Rent(sizeInBytes));

    /// <inheritdoc/>
    public void TouchPages(ArrayBlock block, int sizeInBytes) => Pages.Touch(block.Array.AsSpan(0, sizeInBytes));

    /// <inheritdoc/>
    public void Free(ArrayBlock block) => ArrayPool<byte>.Shared.Return(block.Array);
}

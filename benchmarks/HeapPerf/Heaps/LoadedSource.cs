using System;
using Measuring.Natives;

namespace HeapPerf.Heaps;

/// <summary>A native allocator that was loaded beside the C library's.</summary>
internal readonly unsafe struct LoadedSource : IBlockSource<nint>
{
    private readonly NativeAllocator _allocator;

    /// <summary>Takes blocks from <paramref name="allocator"/>.</summary>
    public LoadedSource(NativeAllocator allocator) => _allocator = allocator;

    /// <inheritdoc/>
    public nint Allocate(int sizeInBytes) => (nint)_allocator.Allocate((nuint)sizeInBytes);

    /// <inheritdoc/>
    public void TouchPages(nint block, int sizeInBytes) => Pages.Touch(new Span<byte>((void*)block, sizeInBytes));

    /// <inheritdoc/>
    public void Free(nint block) => _allocator.Free((void*)block);
}

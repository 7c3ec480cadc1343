using System;
using System.Runtime.InteropServices;

namespace HeapPerf.Heaps;

/// <summary>The C library's heap, as .NET programs reach it.</summary>
internal readonly unsafe struct NativeMemorySource : IBlockSource<nint>
{
    /// <inheritdoc/>
    public nint Allocate(int sizeInBytes) => (nint)NativeMemory.Alloc((nuint)sizeInBytes);

    /// <inheritdoc/>
    public void TouchPages(nint block, int sizeInBytes) => Pages.Touch(new Span<byte>((void*)block, sizeInBytes));

    /// <inheritdoc/>
    public void Free(nint block) => NativeMemory.Free((void*)block);
}

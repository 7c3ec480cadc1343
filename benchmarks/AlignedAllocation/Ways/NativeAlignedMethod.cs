using System;
using System.Runtime.InteropServices;

namespace AlignedAllocation.Ways;

/// <summary>The system's own aligned allocation: <c>aligned_alloc</c>, <c>_aligned_malloc</c> on Windows.</summary>
internal readonly unsafe struct NativeAlignedMethod : IAllocationMethod<nint>
{
    /// <inheritdoc/>
    public nint Allocate(int bytes) => (nint)NativeMemory.AlignedAlloc((nuint)bytes, AllocationWays.Alignment);

    /// <inheritdoc/>
    public Span<byte> GetBytes(nint held, int bytes) => new((void*)held, bytes);

    /// <inheritdoc/>
    public void Release(nint held, int bytes) => NativeMemory.AlignedFree((void*)held);
}

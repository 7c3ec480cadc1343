using System;
using Measuring.Memory;

namespace AlignedAllocation.Ways;

/// <summary>The heap, asked for more, and the address moved up: what the document calls native alignment disabled.</summary>
internal readonly unsafe struct OverAlignedMethod : IAllocationMethod<nint>
{
    /// <inheritdoc/>
    public nint Allocate(int bytes) => OverAlignedHeap.Allocate(bytes, AllocationWays.Alignment);

    /// <inheritdoc/>
    public Span<byte> GetBytes(nint held, int bytes) => new((void*)held, bytes);

    /// <inheritdoc/>
    public void Release(nint held, int bytes) => OverAlignedHeap.Free(held);
}

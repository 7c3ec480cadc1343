using System;
using System.Runtime.InteropServices;

namespace AlignedAllocation.Ways;

/// <summary>The heap as it is (<c>malloc</c>): the control, which is aligned to two words and no more.</summary>
internal readonly unsafe struct HeapMethod : IAllocationMethod<nint>
{
    /// <inheritdoc/>
    public nint Allocate(int bytes) => (nint)NativeMemory.Alloc((nuint)bytes);

    /// <inheritdoc/>
    public Span<byte> GetBytes(nint held, int bytes) => new((void*)held, bytes);

    /// <inheritdoc/>
    public void Release(nint held, int bytes) => NativeMemory.Free((void*)held);
}

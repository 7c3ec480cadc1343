using System;
using Measuring.Memory;

namespace AlignedAllocation.Ways;

/// <summary>Pages from the operating system for every buffer.</summary>
internal readonly unsafe struct PageMethod : IAllocationMethod<nint>
{
    /// <inheritdoc/>
    public nint Allocate(int bytes) => PageMemory.Allocate(bytes);

    /// <inheritdoc/>
    public Span<byte> GetBytes(nint held, int bytes) => new((void*)held, bytes);

    /// <inheritdoc/>
    public void Release(nint held, int bytes) => PageMemory.Free(held, bytes);
}

using System.Runtime.InteropServices;

namespace A4Copy.Buffers;

/// <summary>Memory from <see cref="NativeMemory.AlignedAlloc"/>.</summary>
internal sealed unsafe class AlignedHeapSource : BufferSource
{
    // A cache line, and what the widest vector loads want.
    private const int Alignment = 64;

    /// <inheritdoc/>
    public override PageBuffer Allocate() => new((nint)NativeMemory.AlignedAlloc(A4Page.SizeInBytes, Alignment));

    /// <inheritdoc/>
    public override void Free(in PageBuffer buffer) => NativeMemory.AlignedFree((void*)buffer.Address);

    /// <inheritdoc/>
    public override void AllocateAndFree(int count)
    {
        for (int i = 0; i < count; i++)
        {
            NativeMemory.AlignedFree(NativeMemory.AlignedAlloc(A4Page.SizeInBytes, Alignment));
        }
    }
}

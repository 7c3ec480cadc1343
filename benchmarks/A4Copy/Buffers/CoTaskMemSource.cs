using System.Runtime.InteropServices;

namespace A4Copy.Buffers;

/// <summary>Memory from <see cref="Marshal.AllocCoTaskMem(int)"/>.</summary>
internal sealed class CoTaskMemSource : BufferSource
{
    /// <inheritdoc/>
    public override PageBuffer Allocate() => new(Marshal.AllocCoTaskMem(A4Page.SizeInBytes));

    /// <inheritdoc/>
    public override void Free(in PageBuffer buffer) => Marshal.FreeCoTaskMem(buffer.Address);

    /// <inheritdoc/>
    public override void AllocateAndFree(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Marshal.FreeCoTaskMem(Marshal.AllocCoTaskMem(A4Page.SizeInBytes));
        }
    }
}

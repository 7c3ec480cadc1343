using System.Runtime.InteropServices;

namespace A4Copy.Buffers;

/// <summary>Memory from <see cref="Marshal.AllocHGlobal(int)"/>.</summary>
internal sealed class HGlobalSource : BufferSource
{
    /// <inheritdoc/>
    public override PageBuffer Allocate() => new(Marshal.AllocHGlobal(A4Page.SizeInBytes));

    /// <inheritdoc/>
    public override void Free(in PageBuffer buffer) => Marshal.FreeHGlobal(buffer.Address);

    /// <inheritdoc/>
    public override void AllocateAndFree(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Marshal.FreeHGlobal(Marshal.AllocHGlobal(A4Page.SizeInBytes));
        }
    }
}

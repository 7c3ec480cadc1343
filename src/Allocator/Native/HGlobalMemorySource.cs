using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>Memory from <c>Marshal.AllocHGlobal</c>.</summary>
internal sealed class HGlobalMemorySource : OverAlignedMemorySource
{
    public HGlobalMemorySource(int overreadToleranceInBytes = 0)
        : base(overreadToleranceInBytes)
    {
    }

    protected override nint AllocateRaw(long lengthInBytes) => Marshal.AllocHGlobal((nint)lengthInBytes);

    protected override void FreeRaw(nint address) => Marshal.FreeHGlobal(address);
}

using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>Memory from <see cref="Marshal.AllocCoTaskMem(int)"/>, which takes an <see cref="int"/>: 2 GiB and more are refused.</summary>
internal sealed class CoTaskMemorySource : OverAlignedMemorySource
{
    public CoTaskMemorySource(int overreadToleranceInBytes = 0)
        : base(overreadToleranceInBytes)
    {
    }

    protected override nint AllocateRaw(long lengthInBytes) => lengthInBytes > int.MaxValue ? 0 : Marshal.AllocCoTaskMem((int)lengthInBytes);

    protected override void FreeRaw(nint address) => Marshal.FreeCoTaskMem(address);
}

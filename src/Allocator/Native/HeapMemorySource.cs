using System.Runtime.InteropServices;
#if NET
using System;
#endif

namespace Allocator.Native;

#if NET
/// <summary>Memory from <see cref="NativeMemory.AlignedAlloc"/>.</summary>
internal sealed unsafe class HeapMemorySource : NativeMemorySource
{
    public HeapMemorySource(int overreadToleranceInBytes = 0)
        : base(overreadToleranceInBytes)
    {
    }

    public override long RoundUp(long lengthInBytes) => lengthInBytes;

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        zeroed = false;
        try
        {
            return (nint)NativeMemory.AlignedAlloc((nuint)(lengthInBytes + OverreadToleranceInBytes), (nuint)alignmentInBytes);
        }
        catch (OutOfMemoryException)
        {
            return 0;
        }
    }

    protected override bool TryFree(nint address, long lengthInBytes)
    {
        NativeMemory.AlignedFree((void*)address);
        return true;
    }
}
#else
/// <summary>Memory from the C heap, which netstandard2.0 reaches under the name of <c>Marshal.AllocHGlobal</c>.</summary>
internal sealed class HeapMemorySource : OverAlignedMemorySource
{
    public HeapMemorySource(int overreadToleranceInBytes = 0)
        : base(overreadToleranceInBytes)
    {
    }

    protected override nint AllocateRaw(long lengthInBytes) => Marshal.AllocHGlobal((nint)lengthInBytes);

    protected override void FreeRaw(nint address) => Marshal.FreeHGlobal(address);
}
#endif

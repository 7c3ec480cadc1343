using System.Runtime.InteropServices;
#if NET
using System;
#endif

namespace Allocator.Native;

#if NET
/// <summary>Memory from <see cref="NativeMemory.AlignedAlloc"/>.</summary>
internal sealed unsafe class HeapMemorySource : NativeMemorySource
{
    public override long RoundUp(long lengthInBytes) => lengthInBytes;

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        zeroed = false;
        try
        {
            return (nint)NativeMemory.AlignedAlloc((nuint)lengthInBytes, (nuint)alignmentInBytes);
        }
        catch (OutOfMemoryException)
        {
            return 0;
        }
    }

    public override void Free(nint address, long lengthInBytes) => NativeMemory.AlignedFree((void*)address);
}
#else
/// <summary>Memory from the C heap, which netstandard2.0 reaches under the name of <c>Marshal.AllocHGlobal</c>.</summary>
internal sealed class HeapMemorySource : OverAlignedMemorySource
{
    protected override nint AllocateRaw(long lengthInBytes) => Marshal.AllocHGlobal((nint)lengthInBytes);

    protected override void FreeRaw(nint address) => Marshal.FreeHGlobal(address);
}
#endif

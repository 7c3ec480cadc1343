namespace Allocator.Native;

/// <summary>Memory from a heap, by a pair of functions. If the heap does not align, more is taken than asked for.</summary>
internal sealed unsafe class HeapMemorySource(
    Func<long, int, nint> allocate, Action<nint> free, bool alignsHere, int overreadToleranceInBytes)
    : NativeMemorySource(overreadToleranceInBytes)
{
    /// <summary>Gets whether the heap does not align. Its own pointer is then kept in the word before the aligned address.</summary>
    public bool AlignsHere { get; } = alignsHere;

    public static HeapMemorySource OfCHeap(int overreadToleranceInBytes = 0) =>
#if NET
        new(
            static (length, alignment) => (nint)NativeMemory.AlignedAlloc((nuint)length, (nuint)alignment),
            static address => NativeMemory.AlignedFree((void*)address),
            alignsHere: false,
            overreadToleranceInBytes);
#else
        OfHGlobal(overreadToleranceInBytes);
#endif

    public static HeapMemorySource OfHGlobal(int overreadToleranceInBytes = 0) =>
        new(static (length, _) => Marshal.AllocHGlobal((nint)length), Marshal.FreeHGlobal, alignsHere: true, overreadToleranceInBytes);

    // AllocCoTaskMem takes an int: 2 GiB are refused.
    public static HeapMemorySource OfCoTaskMem(int overreadToleranceInBytes = 0) =>
        new(
            static (length, _) => length > int.MaxValue ? 0 : Marshal.AllocCoTaskMem((int)length),
            Marshal.FreeCoTaskMem,
            alignsHere: true,
            overreadToleranceInBytes);

    public override long RoundUp(long lengthInBytes) => lengthInBytes;

    // Without the few bytes that every allocation loses, such as the heap's own header.
    public override long CapacityOf(long lengthInBytes, int alignmentInBytes) =>
        AlignsHere && alignmentInBytes > MinimumAlignment ? lengthInBytes + alignmentInBytes : lengthInBytes;

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        AssertRequest(lengthInBytes, alignmentInBytes);
        ShortLock.AssertNoneHeld();
        zeroed = false;
        int slack = AlignsHere ? alignmentInBytes + sizeof(nint) : 0;
        nint raw;
        try
        {
            raw = allocate(lengthInBytes + OverreadToleranceInBytes + slack, alignmentInBytes);
        }
        catch (OutOfMemoryException)
        {
            return 0;
        }

        if (raw == 0 || !AlignsHere)
        {
            return raw;
        }

        nint aligned = (nint)(((long)raw + slack - 1) & -(long)alignmentInBytes);
        ((nint*)aligned)[-1] = raw;
        return aligned;
    }

    public override void Free(nint address, long lengthInBytes) => free(AlignsHere ? ((nint*)address)[-1] : address);
}

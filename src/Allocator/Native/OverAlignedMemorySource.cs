using System;

namespace Allocator.Native;

/// <summary>Makes aligned memory of a heap that knows no alignment: takes more than asked, and keeps the heap's own pointer in the word before the aligned address.</summary>
internal abstract unsafe class OverAlignedMemorySource : NativeMemorySource
{
    protected OverAlignedMemorySource(int overreadToleranceInBytes)
        : base(overreadToleranceInBytes)
    {
    }

    public sealed override long RoundUp(long lengthInBytes) => lengthInBytes;

    // What every allocation loses, some bytes like a heap's own header, is left out.
    public sealed override long CapacityOf(long lengthInBytes, int alignmentInBytes) =>
        alignmentInBytes > MinimumAlignment ? lengthInBytes + alignmentInBytes : lengthInBytes;

    public sealed override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        zeroed = false;
        nint raw;
        try
        {
            raw = AllocateRaw(lengthInBytes + OverreadToleranceInBytes + alignmentInBytes + sizeof(nint));
        }
        catch (OutOfMemoryException)
        {
            return 0;
        }

        if (raw == 0)
        {
            return 0;
        }

        nint aligned = (nint)(((long)raw + sizeof(nint) + alignmentInBytes - 1) & -(long)alignmentInBytes);
        ((nint*)aligned)[-1] = raw;
        return aligned;
    }

    protected sealed override bool TryFree(nint address, long lengthInBytes)
    {
        FreeRaw(((nint*)address)[-1]);
        return true;
    }

    /// <summary>Takes memory of any alignment. A refusal is 0 or an <see cref="OutOfMemoryException"/>.</summary>
    protected abstract nint AllocateRaw(long lengthInBytes);

    protected abstract void FreeRaw(nint address);
}

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using PageAlignedTransfer.Ways;

namespace PageAlignedTransfer.Locking;

/// <summary>Memory that is locked for the time of one transfer.</summary>
internal sealed class LockedBuffer(TransferBuffer memory) : TransferBuffer
{
    /// <inheritdoc/>
    public override int SegmentCount => memory.SegmentCount;

    /// <inheritdoc/>
    public override Span<byte> GetSegment(int index) => memory.GetSegment(index);

    /// <inheritdoc/>
    public override void Register() => ForEachSegment(PageLock.Lock);

    /// <inheritdoc/>
    public override void Unregister() => ForEachSegment(PageLock.Unlock);

    /// <inheritdoc/>
    public override void Dispose() => memory.Dispose();

    private unsafe void ForEachSegment(Action<nint, long> action)
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            // Unmanaged memory: it does not move.
            Span<byte> segment = GetSegment(i);
            action((nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(segment)), segment.Length);
        }
    }
}

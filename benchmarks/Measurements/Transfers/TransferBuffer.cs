using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Measurements.Transfers;

/// <summary>The memory of one transfer, in one segment or several; none of them moves.</summary>
internal abstract class TransferBuffer : IDisposable
{
    public virtual int SegmentCount => 1;

    public abstract Span<byte> GetSegment(int index);

    /// <summary>
    /// Sees to it that the memory stays where it is for the transfer. Does nothing where that is not asked for, or is so already.
    /// </summary>
    public virtual void Register()
    {
    }

    /// <summary>Ends what <see cref="Register"/> began.</summary>
    public virtual void Unregister()
    {
    }

    /// <summary>Writes to every page, so that what comes after is not charged for the first touch.</summary>
    public void Touch()
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            PageTouch.Write(GetSegment(i));
        }
    }

    public abstract void Dispose();
}

/// <summary>Memory that is locked for the time of one transfer.</summary>
internal sealed class LockedBuffer(TransferBuffer memory) : TransferBuffer
{
    public override int SegmentCount => memory.SegmentCount;

    public override Span<byte> GetSegment(int index) => memory.GetSegment(index);

    public override void Register() => ForEachSegment(PageLock.Lock);

    public override void Unregister() => ForEachSegment(PageLock.Unlock);

    public override void Dispose() => memory.Dispose();

    private unsafe void ForEachSegment(Action<nint, long> action)
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            Span<byte> segment = GetSegment(i);
            action((nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(segment)), segment.Length);
        }
    }
}

using System;
using Measuring.Memory;

namespace PageAlignedTransfer.Ways;

/// <summary>The memory of one transfer, in one segment or several.</summary>
internal abstract class TransferBuffer : IDisposable
{
    /// <summary>Gets how many segments there are.</summary>
    public virtual int SegmentCount => 1;

    /// <summary>Returns the bytes of segment <paramref name="index"/>.</summary>
    public abstract Span<byte> GetSegment(int index);

    /// <summary>Sees to it that the memory stays where it is for the transfer. Does nothing where that is not asked for, or is so already.</summary>
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

    /// <inheritdoc/>
    public abstract void Dispose();
}

using System;

namespace Allocator.Native;

/// <summary>How a mapping is divided that has inaccessible pages on both sides: a fence, the body with the buffer in it, as near to its end as the alignment allows, a fence.</summary>
internal readonly record struct FenceLayout
{
    /// <summary>Divides.</summary>
    /// <param name="lengthInBytes">The length of the buffer, above 0.</param>
    /// <param name="alignmentInBytes">Its alignment, a power of two.</param>
    /// <param name="pageSizeInBytes">The size of a page.</param>
    public FenceLayout(long lengthInBytes, int alignmentInBytes, long pageSizeInBytes)
    {
        // As long as the alignment is large, so that the body begins on it.
        FrontInBytes = Math.Max(alignmentInBytes, pageSizeInBytes);
        BodyInBytes = (lengthInBytes + pageSizeInBytes - 1) & -pageSizeInBytes;
        BackInBytes = pageSizeInBytes;
        AlignmentInBytes = alignmentInBytes;
        LengthInBytes = lengthInBytes;
    }

    public long FrontInBytes { get; }

    public long BodyInBytes { get; }

    public long BackInBytes { get; }

    public int AlignmentInBytes { get; }

    public long LengthInBytes { get; }

    public long TotalInBytes => FrontInBytes + BodyInBytes + BackInBytes;

    /// <summary>Gets the bytes of the body before the buffer.</summary>
    public long SlackBeforeInBytes => (BodyInBytes - LengthInBytes) & -(long)AlignmentInBytes;

    /// <summary>Gets the bytes of the body behind the buffer.</summary>
    public long SlackBehindInBytes => BodyInBytes - LengthInBytes - SlackBeforeInBytes;

    /// <summary>Gives whether a mapping of this layout can serve a buffer of the other, as it stands.</summary>
    public bool Fits(in FenceLayout other) => FrontInBytes == other.FrontInBytes && BodyInBytes == other.BodyInBytes && BackInBytes == other.BackInBytes;
}

using System;

namespace Allocator.Guarding;

/// <summary>
/// How a mapping is divided: guard pages, the body with the buffer in it, as near to its end as the alignment allows, and a guard page.
/// </summary>
internal readonly record struct GuardedLayout
{
    public GuardedLayout(long lengthInBytes, int alignmentInBytes, long pageSizeInBytes, int overreadToleranceInBytes)
    {
        // As long as the alignment is large, so that the body begins on it.
        FrontInBytes = Math.Max(alignmentInBytes, pageSizeInBytes);
        CapacityInBytes = (lengthInBytes + pageSizeInBytes - 1) & -pageSizeInBytes;
        BodyInBytes = (lengthInBytes + overreadToleranceInBytes + pageSizeInBytes - 1) & -pageSizeInBytes;
        OverreadToleranceInBytes = overreadToleranceInBytes;
        BackInBytes = pageSizeInBytes;
        AlignmentInBytes = alignmentInBytes;
        LengthInBytes = lengthInBytes;
    }

    public long FrontInBytes { get; }

    /// <summary>Gets what is counted: whole pages, and no page that is there for the tolerance alone.</summary>
    public long CapacityInBytes { get; }

    public long BodyInBytes { get; }

    public long BackInBytes { get; }

    public int AlignmentInBytes { get; }

    public int OverreadToleranceInBytes { get; }

    public long LengthInBytes { get; }

    public long TotalInBytes => FrontInBytes + BodyInBytes + BackInBytes;

    /// <summary>Gets the bytes of the body before the buffer.</summary>
    public long SlackBeforeInBytes => (BodyInBytes - OverreadToleranceInBytes - LengthInBytes) & -(long)AlignmentInBytes;

    /// <summary>Gets the bytes of the body behind the buffer.</summary>
    public long SlackBehindInBytes => BodyInBytes - LengthInBytes - SlackBeforeInBytes;

    /// <summary>Returns whether a mapping of this layout can serve a buffer of the other, as it stands.</summary>
    public bool Fits(in GuardedLayout other) =>
        FrontInBytes == other.FrontInBytes && BodyInBytes == other.BodyInBytes && BackInBytes == other.BackInBytes
        && CapacityInBytes == other.CapacityInBytes;
}

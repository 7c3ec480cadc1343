using Allocator.Native;

namespace Allocator.Allocators;

/// <summary>
/// The checked arguments of one call: how many elements, how many of them must stay together in a member, and the demands on the memory.
/// </summary>
[DebuggerDisplay("{TotalLength} elements of {ElementSizeInBytes} bytes, {Options}, aligned to {AlignmentInBytes}")]
internal readonly struct AllocationRequest
{
    public AllocationRequest(long totalLength, int elementSizeInBytes, AllocationOptions options)
    {
        Debug.Assert(totalLength >= 0 && elementSizeInBytes > 0);
        TotalLength = totalLength;
        ElementSizeInBytes = elementSizeInBytes;
        LengthInBytes = ByteCount.Multiply(totalLength, elementSizeInBytes);
        Options = options;
    }

    /// <summary>Gets the length of the whole, in elements.</summary>
    public long TotalLength { get; }

    public int ElementSizeInBytes { get; }

    public AllocationOptions Options { get; }

    /// <summary>Gets how many elements stay together, such as those of a row. A member holds a multiple of them.</summary>
    public int ElementAlignment { get; init; } = 1;

    /// <summary>Gets the alignment, in bytes, that each member begins on.</summary>
    public int AlignmentInBytes { get; init; } = 1;

    /// <summary>Gets whether the memory becomes contiguous if a row is longer than a segment; otherwise that is an error.</summary>
    public bool MakeContiguousWhereNeeded { get; init; }

    /// <summary>Gets whether it must be a managed array, of exactly that length, whatever the mode and the size.</summary>
    public bool IsArray { get; init; }

    /// <summary>Gets the length of the whole in bytes; <see cref="long.MaxValue"/> if it is larger.</summary>
    public long LengthInBytes { get; }

    /// <summary>Gets the bytes that stay together in a member. A product of two ints, which cannot wrap.</summary>
    public long UndividedBytes => (long)ElementAlignment * ElementSizeInBytes;

    /// <summary>Describes one contiguous buffer.</summary>
    public static AllocationRequest ForBytes(long lengthInBytes, int alignmentInBytes, AllocationOptions options) =>
        new(lengthInBytes, 1, options | AllocationOptions.Contiguous) { AlignmentInBytes = alignmentInBytes };

    /// <summary>Describes rows of pixels; each row lies within one member.</summary>
    public static AllocationRequest ForRows(
        int rowStride, int height, int pixelSizeInBytes, int rowAlignmentInBytes, AllocationOptions options) =>
        new((long)rowStride * height, pixelSizeInBytes, options)
        {
            ElementAlignment = rowStride,
            AlignmentInBytes = rowAlignmentInBytes,
            MakeContiguousWhereNeeded = true,
        };

    /// <summary>
    /// Returns the elements from one row to the next, so that each row starts on the alignment: the width rounded up to the least
    /// common multiple of pixel and alignment.
    /// </summary>
    public static long RowStride(int width, int pixelSizeInBytes, int rowAlignmentInBytes)
    {
        // The alignment is a power of two: its common divisor with the pixel size is the size's lowest set bit, at most the alignment.
        int shared = pixelSizeInBytes & -pixelSizeInBytes;
        int pixelsPerStep = rowAlignmentInBytes <= shared ? 1 : rowAlignmentInBytes / shared;
        return pixelsPerStep == 1 ? width : ByteCount.RoundUp(width, pixelsPerStep);
    }
}

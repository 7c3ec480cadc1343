namespace Allocator.Allocators;

/// <summary>Computes sizes so that no product can wrap.</summary>
internal static class RequestSize
{
    /// <summary>The largest estimate, for more bytes than any machine has: sixteen of them can be added without wrapping.</summary>
    public const long LargestEstimate = long.MaxValue / 16;

    /// <summary>Multiplies two sizes, neither negative; a product beyond <see cref="long"/> is <see cref="long.MaxValue"/>.</summary>
    public static long Multiply(long a, long b) => a != 0 && b > long.MaxValue / a ? long.MaxValue : a * b;

    /// <summary>Rounds up to a multiple; a result beyond <see cref="long"/> is <see cref="long.MaxValue"/>.</summary>
    public static long RoundUp(long value, long multiple)
    {
        long rest = value % multiple;
        return rest == 0 ? value : value > long.MaxValue - (multiple - rest) ? long.MaxValue : value + (multiple - rest);
    }

    /// <summary>Gives the elements from one row to the next, so that each row starts on the alignment: the width rounded up to the least common multiple of pixel and alignment.</summary>
    public static long RowStride(int width, int pixelSizeInBytes, int rowAlignmentInBytes)
    {
        // The alignment is a power of two: what it shares with the pixel size is the pixel size's lowest set bit, at most itself.
        int shared = pixelSizeInBytes & -pixelSizeInBytes;
        int pixelsPerStep = rowAlignmentInBytes <= shared ? 1 : rowAlignmentInBytes / shared;
        return RoundUp(width, pixelsPerStep);
    }
}

using Allocator.Lifetime;

namespace Allocator;

/// <summary>
/// Where the rows of an image lie in its memory. Memory row r begins <see cref="Offset"/> + r · <see cref="Stride"/> bytes behind the
/// origin of its member; row y of the image is memory row <see cref="Top"/> + y. One formula for packed, padded, bottom-up, cropped and
/// planar images.
/// </summary>
internal readonly struct PixelRows
{
    /// <summary>Gets the map from a memory row to its member; none if the memory is one run.</summary>
    public RowMap Map { get; init; }

    /// <summary>Gets the bytes from the origin to the first pixel of memory row 0.</summary>
    public nint Offset { get; init; }

    /// <summary>Gets the bytes from one row to the next; negative if the first row is the last in memory.</summary>
    public nint Stride { get; init; }

    public int Top { get; init; }

    public int Width { get; init; }

    public int Height { get; init; }

    /// <summary>Returns the bytes from the lowest pixel to the end of the highest. No gap is needed behind the last row.</summary>
    public static long LengthInBytes(int width, int height, long stride, int pixelSizeInBytes) =>
        (height - 1L) * Math.Abs(stride) + (long)width * pixelSizeInBytes;

    /// <summary>Returns how many rows there are from the given one to the end of its member, or of the image.</summary>
    public int RowsFrom(int y) => Map.IsEmpty ? Height - y : (int)Math.Min(Height - y, Map.EndOfMember(Top + y) - Top - y);

    /// <summary>Returns where the member of the first row ends, in bytes from the beginning: at most the total length.</summary>
    public long EndOfMember(long totalLength) => Map.IsEmpty ? totalLength : Math.Min(totalLength, Map.EndOfMember(Top) * Stride);

    /// <summary>Returns the bytes from the origin of the first member to a row, if members are one gap apart.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public nint OffsetOf(int y, nint gap) => Offset + Map.Find(Top + y) * gap + (Top + y) * Stride;

    public int StrideInPixels(int pixelSizeInBytes) => Stride % pixelSizeInBytes == 0
        ? (int)(Stride / pixelSizeInBytes)
        : throw new InvalidOperationException(
            Invariant($"Rows are {Stride:N0} bytes apart, no multiple of the {pixelSizeInBytes} of a pixel: use RowStrideInBytes."));

    /// <summary>Returns how many rows from the given one on lie without a gap, but no more than a span can hold.</summary>
    public int RunFrom(int y, int pixelSizeInBytes) =>
        IsPacked(pixelSizeInBytes) ? (int)Math.Min(RowsFrom(y), int.MaxValue / Stride) : 1;

    public bool IsPacked(int pixelSizeInBytes) => Stride == (nint)Width * pixelSizeInBytes;

    /// <summary>Returns a part. An empty part begins at the first pixel, because its own place may be behind the last one.</summary>
    public PixelRows Slice(int x, int y, int width, int height, int pixelSizeInBytes) => this with
    {
        Offset = Offset + (width == 0 ? 0 : (nint)x * pixelSizeInBytes),
        Top = Top + y,
        Width = width,
        Height = height,
    };
}

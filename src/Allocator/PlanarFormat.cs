namespace Allocator;

/// <summary>How an image is divided into planes: the size of a pixel in each, and how much smaller than the image a plane is.</summary>
/// <remarks>Immutable, so threads can share it.</remarks>
public sealed class PlanarFormat
{
    private readonly Plane[] _planes;
    private readonly string _name;

    private PlanarFormat(string name, params Plane[] planes)
    {
        _name = name;
        _planes = planes;
    }

    /// <summary>
    /// Gets the format of most video decoders and cameras: a plane of 8-bit luma, and one of half the width and height whose pixels of 2
    /// bytes are U and V.
    /// </summary>
    public static PlanarFormat Nv12 { get; } = new("NV12", new Plane(1), new Plane(2, Shift: 1));

    /// <summary>Gets 8-bit luma, and two planes of half the width and height for U and V: yuv420p, for JPEG and software codecs.</summary>
    public static PlanarFormat I420 { get; } =
        new("I420", new Plane(1), new Plane(1, Shift: 1, RowsPerLine: 2), new Plane(1, Shift: 1, RowsPerLine: 2));

    /// <summary>Gets <see cref="Nv12"/> with 16 bits for each value, of which the upper 10 count: HDR video.</summary>
    public static PlanarFormat P010 { get; } = new("P010", new Plane(2), new Plane(4, Shift: 1));

    /// <summary>Gets the number of planes.</summary>
    public int PlaneCount => _planes.Length;

    /// <summary>Makes a format of planes of one type and of the size of the image: CHW tensors, separate color channels.</summary>
    /// <typeparam name="TPixel">The type of a value in each plane.</typeparam>
    /// <param name="planes">The number of planes, from 1 to 64.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="planes"/> is not in that range.</exception>
    public static PlanarFormat Of<TPixel>(int planes)
        where TPixel : unmanaged
    {
        Throw.Unless(planes is >= 1 and <= 64, nameof(planes), planes, "must be from 1 to 64");
        Plane[] all = new Plane[planes];
        all.AsSpan().Fill(new Plane(Unsafe.SizeOf<TPixel>()));
        return new PlanarFormat($"{planes} × {typeof(TPixel).Name}", all);
    }

    /// <summary>Returns the format's name.</summary>
    public override string ToString() => _name;

    internal int PixelSizeOf(int plane) => _planes[plane].PixelSize;

    /// <summary>
    /// Returns the bytes of a line: a row of the image, or as many rows of a smaller plane as lie side by side in one. No line is divided.
    /// </summary>
    internal long LineBytes(int width, int rowAlignmentInBytes)
    {
        long bytes = 0;
        foreach (Plane plane in _planes)
        {
            long row = (long)plane.Scale(width) * plane.PixelSize;
            bytes = Math.Max(bytes, plane.RowsPerLine * Native.ByteCount.RoundUp(row, rowAlignmentInBytes));
        }

        return bytes;
    }

    /// <summary>Returns the bytes before a plane. For the number of planes, it returns the bytes of all.</summary>
    internal long OffsetOf(int plane, int height, long lineBytes)
    {
        long bytes = 0;
        foreach (Plane before in _planes.AsSpan(0, plane))
        {
            bytes = Native.ByteCount.Add(bytes, Native.ByteCount.Multiply(before.Scale(height), lineBytes / before.RowsPerLine));
        }

        return bytes;
    }

    /// <summary>Returns how many rows all of the memory would hold if it were the last plane: an upper bound for row numbers.</summary>
    internal long RowsIn(long bytes, long lineBytes) => bytes / (lineBytes / _planes[_planes.Length - 1].RowsPerLine);

    /// <summary>Returns the rows of a plane; the length of a member is that of whole lines, 0 for one run of memory.</summary>
    internal PixelRows RowsOf(int plane, int width, int height, int lineBytes, int memberBytes)
    {
        int stride = lineBytes / _planes[plane].RowsPerLine;
        return new PixelRows
        {
            Map = memberBytes == 0 ? default : new Lifetime.RowMap(memberBytes / stride),
            Stride = stride,
            Top = (int)(OffsetOf(plane, height, lineBytes) / stride),
            Width = _planes[plane].Scale(width),
            Height = _planes[plane].Scale(height),
        };
    }

    private readonly record struct Plane(int PixelSize, int Shift = 0, int RowsPerLine = 1)
    {
        // Odd sizes are rounded up: the last column and row have chroma of their own.
        public int Scale(int length) => (int)(((long)length + (1 << Shift) - 1) >> Shift);
    }
}

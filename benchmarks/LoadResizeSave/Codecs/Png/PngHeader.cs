using System.Buffers.Binary;

namespace LoadResizeSave.Codecs.Png;

/// <summary>The colour types of a PNG, by the numbers that its header holds.</summary>
internal enum PngColourType : byte
{
    Gray = 0,

    Rgb = 2,

    Palette = 3,

    GrayAlpha = 4,

    Rgba = 6,
}

/// <summary>One of the seven passes of an interlaced PNG: which pixels of the picture it holds.</summary>
internal readonly record struct Adam7Pass(int Left, int Top, int StepX, int StepY)
{
    public static IReadOnlyList<Adam7Pass> All { get; } =
    [
        new(0, 0, 8, 8), new(4, 0, 8, 8), new(0, 4, 4, 8), new(2, 0, 4, 4), new(0, 2, 2, 4), new(1, 0, 2, 2), new(0, 1, 1, 2),
    ];

    /// <summary>Returns how many pixels a row of the pass has. Written so that no sum can overflow.</summary>
    public int Columns(int width) => width <= Left ? 0 : ((width - Left - 1) / StepX) + 1;

    public int Rows(int height) => height <= Top ? 0 : ((height - Top - 1) / StepY) + 1;
}

/// <summary>The first chunk of a PNG, checked: what the rest of the file must contain follows from it.</summary>
internal readonly record struct PngHeader(int Width, int Height, int BitDepth, PngColourType ColourType, bool Interlaced)
{
    public const int Length = 13;

    public int Channels => ColourType switch
    {
        PngColourType.Gray or PngColourType.Palette => 1,
        PngColourType.GrayAlpha => 2,
        PngColourType.Rgb => 3,
        _ => 4,
    };

    /// <summary>Gets how far apart the bytes are that a filter compares: a pixel, and one byte where a pixel is less.</summary>
    public int FilterDistance => Math.Max(1, Channels * BitDepth / 8);

    /// <exception cref="UnreadablePictureException">It holds what the specification forbids.</exception>
    public static PngHeader Parse(ReadOnlySpan<byte> data)
    {
        if (data.Length != Length)
        {
            throw new UnreadablePictureException($"the header has {data.Length} bytes instead of {Length}");
        }

        uint width = BinaryPrimitives.ReadUInt32BigEndian(data);
        uint height = BinaryPrimitives.ReadUInt32BigEndian(data[4..]);
        if (width is 0 or > int.MaxValue || height is 0 or > int.MaxValue)
        {
            throw new UnreadablePictureException($"the header claims {width} x {height} pixels");
        }

        int depth = data[8];
        PngColourType type = (PngColourType)data[9];
        bool valid = type switch
        {
            PngColourType.Gray => depth is 1 or 2 or 4 or 8 or 16,
            PngColourType.Palette => depth is 1 or 2 or 4 or 8,
            PngColourType.Rgb or PngColourType.GrayAlpha or PngColourType.Rgba => depth is 8 or 16,
            _ => false,
        };
        if (!valid)
        {
            throw new UnreadablePictureException($"colour type {data[9]} with {depth} bits does not exist");
        }

        if (data[10] != 0 || data[11] != 0 || data[12] > 1)
        {
            throw new UnreadablePictureException($"compression {data[10]}, filter method {data[11]}, interlace {data[12]}: not in the "
                + "specification");
        }

        return new PngHeader((int)width, (int)height, depth, type, data[12] == 1);
    }

    /// <summary>Returns how many bytes <paramref name="width"/> pixels take in a row, without its filter byte.</summary>
    public long RowBytes(int width) => (((long)width * Channels * BitDepth) + 7) / 8;
}

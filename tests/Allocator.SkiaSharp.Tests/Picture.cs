using System.Buffers.Binary;
using System.IO.Compression;

namespace Allocator.SkiaSharp.Tests;

/// <summary>The files that are decoded: of each kind that a decoder treats in another way.</summary>
internal static class Picture
{
    public const int Width = 1600;
    public const int Height = 1200;

    private static readonly Dictionary<string, Lazy<byte[]>> s_files = new()
    {
        ["baseline.jpg"] = new(() => Encode(SKEncodedImageFormat.Jpeg, 90, SKAlphaType.Opaque)),
        ["grey.jpg"] = new(() => Encode(SKEncodedImageFormat.Jpeg, 90, SKAlphaType.Opaque, SKColorType.Gray8)),
        ["opaque.png"] = new(() => Encode(SKEncodedImageFormat.Png, 100, SKAlphaType.Opaque)),
        ["alpha.png"] = new(() => Encode(SKEncodedImageFormat.Png, 100, SKAlphaType.Premul)),
        ["lossy.webp"] = new(() => Encode(SKEncodedImageFormat.Webp, 80, SKAlphaType.Opaque)),
        ["lossy-alpha.webp"] = new(() => Encode(SKEncodedImageFormat.Webp, 80, SKAlphaType.Premul)),
        ["lossless.webp"] = new(() => Encode(SKEncodedImageFormat.Webp, 100, SKAlphaType.Opaque)),
        ["lossless-alpha.webp"] = new(() => Encode(SKEncodedImageFormat.Webp, 100, SKAlphaType.Premul)),
        ["interlaced.png"] = new(InterlacedPng),
        ["rgb.bmp"] = new(() => Bmp()),
    };

    /// <summary>Gets the names of all, those of the folder Pictures included.</summary>
    public static IEnumerable<string> Names => s_files.Keys.Concat(
        Directory.GetFiles(Folder).Select(path => Path.GetFileName(path)!)).Order(StringComparer.Ordinal);

    private static string Folder => Path.Combine(AppContext.BaseDirectory, "Pictures");

    public static TheoryData<string> All() => [.. Names];

    public static byte[] Read(string name) =>
        s_files.TryGetValue(name, out Lazy<byte[]>? file) ? file.Value : File.ReadAllBytes(Path.Combine(Folder, name));

    /// <summary>Returns a JPEG with an orientation.</summary>
    public static byte[] Oriented(byte[] jpeg, SKEncodedOrigin origin)
    {
        // APP1 with one entry: tag 0x0112, a short, one of them.
        ReadOnlySpan<byte> exif =
        [
            0xFF, 0xE1, 0, 34, (byte)'E', (byte)'x', (byte)'i', (byte)'f', 0, 0, (byte)'M', (byte)'M', 0, 42, 0, 0, 0, 8,
            0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (byte)origin, 0, 0, 0, 0, 0, 0,
        ];
        return [.. jpeg.AsSpan(0, 2), .. exif, .. jpeg.AsSpan(2)];
    }

    /// <summary>Returns a lossy WebP with an orientation.</summary>
    public static byte[] OrientedWebP(byte[] webp, SKEncodedOrigin origin)
    {
        // A chunk that announces EXIF and repeats the size; the picture; EXIF.
        ReadOnlySpan<byte> extended =
        [
            (byte)'V', (byte)'P', (byte)'8', (byte)'X', 10, 0, 0, 0, 8, 0, 0, 0,
            (Width - 1) & 255, (Width - 1) >> 8, 0, (Height - 1) & 255, (Height - 1) >> 8, 0,
        ];
        byte[] file = [.. webp.AsSpan(0, 12), .. extended, .. webp.AsSpan(12), .. ExifChunk(origin)];
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(4), file.Length - 8);
        return file;
    }

    /// <summary>Returns a chunk of WebP that says an orientation.</summary>
    public static byte[] ExifChunk(SKEncodedOrigin origin) =>
    [
        (byte)'E', (byte)'X', (byte)'I', (byte)'F', 26, 0, 0, 0, (byte)'M', (byte)'M', 0, 42, 0, 0, 0, 8,
        0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (byte)origin, 0, 0, 0, 0, 0, 0,
    ];

    /// <summary>Draws a picture whose corners all differ.</summary>
    public static SKBitmap Draw(int width, int height, SKAlphaType alphaType, SKColorType colorType = SKColorType.Bgra8888)
    {
        SKBitmap bitmap = new(new SKImageInfo(width, height, colorType, alphaType));
        using SKCanvas canvas = new(bitmap);
        canvas.Clear(alphaType == SKAlphaType.Opaque ? SKColors.SlateGray : SKColors.Transparent);
        using SKPaint paint = new();
        using SKShader shader = SKShader.CreateLinearGradient(
            default, new SKPoint(width, height), [SKColors.Black, SKColors.White], null, SKShaderTileMode.Clamp);
        paint.Shader = shader;
        canvas.DrawRect(width / 8f, height / 8f, width * .75f, height * .75f, paint);
        paint.Shader = null;
        foreach ((float x, float y, SKColor color) in new[]
        {
            (0f, 0f, SKColors.Red), (.75f, 0f, SKColors.Lime.WithAlpha(128)), (0f, .75f, SKColors.Blue), (.75f, .75f, SKColors.Yellow),
        })
        {
            paint.Color = color;
            canvas.DrawRect(x * width, y * height, width / 4f, height / 4f, paint);
        }

        return bitmap;
    }

    public static byte[] Encode(
        SKEncodedImageFormat format,
        int quality,
        SKAlphaType alphaType,
        SKColorType colorType = SKColorType.Bgra8888,
        int width = Width,
        int height = Height)
    {
        using SKBitmap bitmap = Draw(width, height, alphaType, colorType);
        using SKPixmap pixels = bitmap.PeekPixels();
        using MemoryStream file = new();
        using SKManagedWStream stream = new(file);
        Assert.True(format == SKEncodedImageFormat.Webp && quality == 100
            ? pixels.Encode(stream, new SKWebpEncoderOptions(SKWebpEncoderCompression.Lossless, 20))
            : pixels.Encode(stream, format, quality));
        stream.Flush();
        return file.ToArray();
    }

    /// <summary>Returns a BMP of three bytes a pixel, whose rows need no padding: the width is a multiple of four.</summary>
    public static byte[] Bmp(int width = Width, int height = Height)
    {
        using SKBitmap bitmap = Draw(width, height, SKAlphaType.Opaque);
        byte[] file = new byte[54 + (width * height * 3)];
        (file[0], file[1], file[10], file[14], file[26], file[28]) = ((byte)'B', (byte)'M', 54, 40, 1, 24);
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(2), file.Length);
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(18), width);
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(22), height);
        for (int y = 0; y < height; y++)
        {
            for (int x = 0; x < width; x++)
            {
                SKColor color = bitmap.GetPixel(x, y);
                int at = 54 + ((((height - 1 - y) * width) + x) * 3);
                (file[at], file[at + 1], file[at + 2]) = (color.Blue, color.Green, color.Red);
            }
        }

        return file;
    }

    /// <summary>Returns the checksum of PNG.</summary>
    public static uint Crc(ReadOnlySpan<byte> bytes)
    {
        uint crc = uint.MaxValue;
        foreach (byte value in bytes)
        {
            crc ^= value;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc >> 1) ^ (0xEDB88320 & (uint)-(int)(crc & 1));
            }
        }

        return ~crc;
    }

    // Seven passes of rows, each of every eighth, fourth or second column: RGB, of eight bits.
    private static byte[] InterlacedPng()
    {
        using SKBitmap bitmap = Draw(Width, Height, SKAlphaType.Opaque);
        using MemoryStream rows = new();
        using (ZLibStream compressed = new(rows, CompressionLevel.Fastest, leaveOpen: true))
        {
            ReadOnlySpan<(int X, int Y, int StepX, int StepY)> passes =
                [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];
            foreach ((int firstX, int firstY, int stepX, int stepY) in passes)
            {
                for (int y = firstY; y < Height; y += stepY)
                {
                    compressed.WriteByte(0);
                    for (int x = firstX; x < Width; x += stepX)
                    {
                        SKColor color = bitmap.GetPixel(x, y);
                        compressed.Write([color.Red, color.Green, color.Blue]);
                    }
                }
            }
        }

        byte[] header = new byte[13];
        BinaryPrimitives.WriteInt32BigEndian(header, Width);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), Height);
        (header[8], header[9], header[12]) = (8, 2, 1);
        using MemoryStream file = new();
        file.Write([0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A]);
        Chunk(file, "IHDR", header);
        Chunk(file, "IDAT", rows.ToArray());
        Chunk(file, "IEND", []);
        return file.ToArray();
    }

    private static void Chunk(MemoryStream file, string name, byte[] content)
    {
        byte[] chunk = [.. System.Text.Encoding.ASCII.GetBytes(name), .. content];
        byte[] number = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(number, content.Length);
        file.Write(number);
        file.Write(chunk);
        BinaryPrimitives.WriteUInt32BigEndian(number, Crc(chunk));
        file.Write(number);
    }
}

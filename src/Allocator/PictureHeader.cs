using System.Buffers.Binary;

namespace Allocator;

/// <summary>The format of an encoded picture.</summary>
public enum PictureFormat
{
    /// <summary>A format that <see cref="PictureHeader"/> does not know.</summary>
    Unknown,

    /// <summary>JPEG, with the exception of JPEG XL and JPEG 2000.</summary>
    Jpeg,

    /// <summary>PNG, animated ones included.</summary>
    Png,

    /// <summary>WebP: lossy, lossless or extended.</summary>
    WebP,

    /// <summary>GIF.</summary>
    Gif,

    /// <summary>Windows bitmap.</summary>
    Bmp,
}

/// <summary>
/// The properties of an encoded picture, read from its first bytes, and the memory that decoding it is likely to take. Reads JPEG, PNG,
/// WebP, GIF and BMP, and decodes nothing.
/// </summary>
/// <remarks>
/// Use it as the size of a job: <c>ReserveAsync("thumbnails", header.ExpectedBytes)</c>. The sender of the picture controls these bytes, so
/// they may lie; decoders have their own limits.
/// </remarks>
public readonly record struct PictureHeader
{
    private const int BytesPerPixel = 4;

    // The first and the longest read. Cameras put whole previews in front of the picture.
    private const int UsualLength = 64 * 1024;
    private const int LongestLength = 1024 * 1024;

    // Of the extended form of WebP.
    private const byte AnimationFlag = 2;

    // Tenths of a byte for each pixel, measured with the libwebp of SkiaSharp 3.119 and 4.155: all pixels of a lossless WebP with the
    // decoder's tables, and a plane of alpha with its decoder.
    private const int TenthsOfLossless = 44;
    private const int TenthsOfRawAlpha = 13;
    private const int TenthsOfPaletteAlpha = 31;
    private const int TenthsOfCompressedAlpha = 63;

    // APP1 of JPEG begins with these bytes if it is EXIF.
    private static ReadOnlySpan<byte> Exif => "Exif\0\0"u8;

    private static ReadOnlySpan<byte> PngSignature => [0x89, (byte)'P', (byte)'N', (byte)'G', 13, 10, 26, 10];

    private static ReadOnlySpan<byte> JpegSignature => [0xFF, 0xD8];

    private PictureHeader(PictureFormat format, long width, long height, long decoderBytes = 0)
    {
        Format = format;
        Width = width;
        Height = height;
        DecoderBytes = decoderBytes;
        Orientation = 1;
    }

    /// <summary>Gets the format.</summary>
    public PictureFormat Format { get; private init; }

    /// <summary>Gets the width in pixels, as stored: before the orientation is applied.</summary>
    public long Width { get; }

    /// <summary>Gets the height in pixels, as stored.</summary>
    public long Height { get; }

    /// <summary>
    /// Gets whether the picture is stored in passes over the whole of it: progressive or multi-scan JPEG, interlaced PNG. A JPEG's
    /// decoder then keeps the coefficients of the whole picture.
    /// </summary>
    public bool IsProgressive { get; private init; }

    /// <summary>Gets whether it may have several frames.</summary>
    public bool IsAnimated { get; private init; }

    /// <summary>Gets how many frames the header of an APNG announces; 0 for other pictures, whose headers do not say it.</summary>
    public long AnnouncedFrames { get; private init; }

    /// <summary>Gets the orientation by EXIF, 1 to 8; 1 if there is none, 0 if the format is unknown. Read from JPEG only.</summary>
    public int Orientation { get; private init; }

    /// <summary>Gets whether the header was not read only because more bytes of the file are needed.</summary>
    public bool NeedsMoreBytes { get; private init; }

    /// <summary>
    /// Gets the bytes that a decoder takes for the whole picture besides its pixels: the coefficients of a JPEG that is stored in several
    /// scans, the samples of an interlaced PNG, and what libwebp takes for a lossless WebP or for alpha. 0 for others, which are decoded a
    /// few rows at a time.
    /// </summary>
    public long DecoderBytes { get; }

    /// <summary>
    /// Gets the bytes that one decoded frame is expected to take: four per pixel, plus <see cref="DecoderBytes"/>. The need of a job grows
    /// with this number; it is not an estimate of everything the job takes. At least 1.
    /// </summary>
    public long ExpectedBytes => Math.Max(1, Add(Multiply(Multiply(Width, Height), BytesPerPixel), DecoderBytes));

    /// <summary>Reads the header of a picture from a stream, up to 1 MiB of it.</summary>
    /// <param name="stream">
    /// The file, from its position on. The position of a seekable stream is restored; any other stream is left at an unspecified position.
    /// </param>
    /// <param name="header">
    /// The header. If the result is <see langword="false"/>, only its format may be known: its other figures are no size for a job.
    /// </param>
    /// <returns><see langword="false"/> if the format is unknown, or the header is damaged or cut off.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="stream"/> is null.</exception>
    /// <exception cref="IOException">The stream cannot be read. Other exceptions of the stream are passed on, too.</exception>
    public static bool TryRead(Stream stream, out PictureHeader header)
    {
        Throw.IfNull(stream, nameof(stream));
        long start = stream.CanSeek ? stream.Position : 0;
        byte[] bytes = ArrayPool<byte>.Shared.Rent(UsualLength);
        try
        {
            for (int length = 0; ;)
            {
                int read = stream.Read(bytes, length, bytes.Length - length);
                length += read;
                if (read > 0 && length < bytes.Length)
                {
                    continue;
                }

                bool isRead = TryRead(bytes.AsSpan(0, length), out header);
                if (!header.NeedsMoreBytes || read == 0 || length >= LongestLength)
                {
                    return isRead;
                }

                byte[] longer = ArrayPool<byte>.Shared.Rent(LongestLength);
                bytes.AsSpan(0, length).CopyTo(longer);
                ArrayPool<byte>.Shared.Return(bytes);
                bytes = longer;
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(bytes);
            if (stream.CanSeek)
            {
                stream.Position = start;
            }
        }
    }

    /// <summary>Reads the header of a picture.</summary>
    /// <param name="start">
    /// The first bytes of the file. Some dozens are enough for most formats. JPEG, and WebP in its extended form, have metadata first:
    /// 64 KiB are usually enough.
    /// </param>
    /// <param name="header">
    /// The header; for <see langword="false"/> its format, if that is known: its other figures are no size for a job.
    /// </param>
    /// <returns>
    /// <see langword="false"/> if the format is unknown, the header is damaged, or more bytes are needed, which
    /// <see cref="NeedsMoreBytes"/> says. Never throws.
    /// </returns>
    public static bool TryRead(ReadOnlySpan<byte> start, out PictureHeader header)
    {
        header = start.StartsWith(JpegSignature) ? ReadJpeg(start)
            : start.StartsWith(PngSignature.Slice(0, 2)) ? ReadPng(start)
            : start.StartsWith("RIFF"u8) ? ReadWebP(start)
            : start.StartsWith("GIF8"u8) ? ReadGif(start)
            : start.StartsWith("BM"u8) ? ReadBmp(start)
            : new PictureHeader { NeedsMoreBytes = start.Length < 4 };
        return header.Width > 0 && header.Height > 0;
    }

    private static PictureHeader Incomplete(PictureFormat format) => new(format, 0, 0) { NeedsMoreBytes = true };

    private static PictureHeader Damaged(PictureFormat format) => new(format, 0, 0);

    private static PictureHeader ReadJpeg(ReadOnlySpan<byte> start)
    {
        ReadOnlySpan<byte> frame = default;
        bool isProgressive = false;
        int orientation = 1;
        for (int i = 2; i + 4 <= start.Length;)
        {
            byte marker = start[i + 1];
            if (start[i] != 0xFF || marker is 0xFF or 0)
            {
                // Fill bytes may stand before a marker. 0 is no marker.
                i++;
                continue;
            }

            if (marker is 0x01 or (>= 0xD0 and <= 0xD8))
            {
                i += 2;
                continue;
            }

            if (marker == 0xD9)
            {
                // The end, without a picture.
                return Damaged(PictureFormat.Jpeg);
            }

            int length = Math.Max(2, (int)BinaryPrimitives.ReadUInt16BigEndian(start.Slice(i + 2)));
            if (i + 2 + length > start.Length)
            {
                break;
            }

            ReadOnlySpan<byte> segment = start.Slice(i + 4, length - 2);
            if (marker == 0xDA)
            {
                return DescribeJpeg(frame, isProgressive, segment.IsEmpty ? 0 : segment[0], orientation);
            }

            // C4, C8 and CC are tables and extensions.
            if (marker is >= 0xC0 and <= 0xCF and not (0xC4 or 0xC8 or 0xCC))
            {
                frame = segment;
                isProgressive = (marker & 3) == 2;
            }
            else if (marker == 0xE1 && segment.StartsWith(Exif))
            {
                orientation = ReadOrientation(segment.Slice(Exif.Length));
            }

            i += 2 + length;
        }

        return Incomplete(PictureFormat.Jpeg);
    }

    // Precision, height, width, the number of components, and for each its name, its two sampling factors and its table.
    private static PictureHeader DescribeJpeg(ReadOnlySpan<byte> frame, bool isProgressive, int componentsInFirstScan, int orientation)
    {
        if (frame.Length < 6 || frame.Length < 6 + (3 * frame[5]))
        {
            return Damaged(PictureFormat.Jpeg);
        }

        int height = BinaryPrimitives.ReadUInt16BigEndian(frame.Slice(1));
        int width = BinaryPrimitives.ReadUInt16BigEndian(frame.Slice(3));
        int count = frame[5];
        int across = 1;
        int down = 1;
        for (int i = 0; i < count; i++)
        {
            byte factors = frame[7 + (3 * i)];
            across = Math.Max(across, factors >> 4);
            down = Math.Max(down, factors & 15);
        }

        const int BlockSide = 8;
        long unitsAcross = (width + (across * BlockSide) - 1) / (across * BlockSide);
        long unitsDown = (height + (down * BlockSide) - 1) / (down * BlockSide);
        long blocks = 0;
        for (int i = 0; i < count; i++)
        {
            byte factors = frame[7 + (3 * i)];
            blocks += unitsAcross * (factors >> 4) * unitsDown * (factors & 15);
        }

        bool isKept = isProgressive || componentsInFirstScan < count;
        return new PictureHeader(PictureFormat.Jpeg, width, height, isKept ? blocks * BlockSide * BlockSide * sizeof(short) : 0)
        {
            IsProgressive = isKept,
            Orientation = orientation,
        };
    }

    // A TIFF header, and a directory of 12 bytes an entry; 0x112 is the orientation.
    private static int ReadOrientation(ReadOnlySpan<byte> tiff)
    {
        if (tiff.Length < 8 || !(tiff[0] == tiff[1] && tiff[0] is (byte)'I' or (byte)'M'))
        {
            return 1;
        }

        bool isLittle = tiff[0] == (byte)'I';
        long directory = ReadNumber(tiff, 4, 4, isLittle);
        long count = ReadNumber(tiff, directory, 2, isLittle);

        // No further than the end: a hostile file has thousands of directories, each of which promises 65,535 entries.
        count = Math.Min(count, (tiff.Length - directory) / 12);
        for (long i = 0; i < count; i++)
        {
            long entry = directory + 2 + (12 * i);
            if (ReadNumber(tiff, entry, 2, isLittle) == 0x112)
            {
                long value = ReadNumber(tiff, entry + 8, 2, isLittle);
                return value is >= 1 and <= 8 ? (int)value : 1;
            }
        }

        return 1;
    }

    // 0 beyond the end.
    private static long ReadNumber(ReadOnlySpan<byte> bytes, long offset, int length, bool isLittle)
    {
        if (offset < 0 || offset > bytes.Length - length)
        {
            return 0;
        }

        long number = 0;
        for (int i = 0; i < length; i++)
        {
            number = (number << 8) | bytes[(int)offset + (isLittle ? length - 1 - i : i)];
        }

        return number;
    }

    // The signature, then chunks of length, name, data and checksum; IHDR is the first.
    private static PictureHeader ReadPng(ReadOnlySpan<byte> start)
    {
        if (!PngSignature.StartsWith(start.Slice(0, Math.Min(start.Length, PngSignature.Length))))
        {
            return Damaged(PictureFormat.Unknown);
        }

        if (start.Length < 29)
        {
            return Incomplete(PictureFormat.Png);
        }

        if (!start.Slice(12).StartsWith("IHDR"u8))
        {
            return Damaged(PictureFormat.Png);
        }

        // The chunk that makes an animation stands before the pixels, usually behind the header.
        bool isAnimated = false;
        long frames = 0;
        for (long i = PngSignature.Length; i + 8 <= start.Length; i += 12 + ReadNumber(start, i, 4, isLittle: false))
        {
            ReadOnlySpan<byte> name = start.Slice((int)i + 4, 4);
            if (name.SequenceEqual("acTL"u8))
            {
                isAnimated = true;
                frames = i + 12 <= start.Length ? ReadNumber(start, i + 8, 4, isLittle: false) : 0;
            }

            if (name.SequenceEqual("IDAT"u8))
            {
                break;
            }
        }

        // Depth and colour type: RGB, grey with alpha, RGB with alpha; else grey or a palette.
        long width = ReadNumber(start, 16, 4, isLittle: false);
        long height = ReadNumber(start, 20, 4, isLittle: false);
        int bytesPerPixel = (start[25] switch { 2 => 3, 4 => 4, 6 => 4, _ => 1 }) * (start[24] == 16 ? 2 : 1);
        bool isInterlaced = start[28] != 0;
        return new(PictureFormat.Png, width, height, isInterlaced ? Multiply(Multiply(width, height), bytesPerPixel) : 0)
        {
            IsProgressive = isInterlaced,
            IsAnimated = isAnimated,
            AnnouncedFrames = frames,
        };
    }

    private static PictureHeader ReadWebP(ReadOnlySpan<byte> start)
    {
        if (start.Length >= 12 && !start.Slice(8).StartsWith("WEBP"u8))
        {
            return Damaged(PictureFormat.Unknown);
        }

        // A whole lossless picture may be shorter than the other headers.
        ReadOnlySpan<byte> chunk = start.Slice(Math.Min(start.Length, 12));
        bool isLossless = chunk.StartsWith("VP8L"u8);
        if (start.Length < (isLossless ? 25 : 30))
        {
            return Incomplete(PictureFormat.WebP);
        }

        if (isLossless)
        {
            // 14 bits each, less 1.
            long bits = ReadNumber(start, 21, 4, isLittle: true);
            return DescribeWebP((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1, TenthsOfLossless);
        }

        if (chunk.StartsWith("VP8 "u8))
        {
            return new(PictureFormat.WebP, ReadNumber(start, 26, 2, true) & 0x3FFF, ReadNumber(start, 28, 2, true) & 0x3FFF);
        }

        if (!chunk.StartsWith("VP8X"u8))
        {
            return Damaged(PictureFormat.WebP);
        }

        // Chunks of a name, a length and an even number of bytes: profiles and the like, then the picture.
        for (long i = 30; i + 10 <= start.Length;)
        {
            ReadOnlySpan<byte> name = start.Slice((int)i, 4);
            long? tenths = name.SequenceEqual("VP8 "u8) ? 0
                : name.SequenceEqual("VP8L"u8) ? TenthsOfLossless
                : name.SequenceEqual("ALPH"u8) ? TenthsOfAlpha(start[(int)i + 8], start[(int)i + 9])
                // The first frame may be of either kind, and has alpha.
                : name.SequenceEqual("ANMF"u8) ? TenthsOfCompressedAlpha
                : null;
            if (tenths is { } found)
            {
                return DescribeWebP(ReadNumber(start, 24, 3, isLittle: true) + 1, ReadNumber(start, 27, 3, isLittle: true) + 1, found) with
                {
                    IsAnimated = (start[20] & AnimationFlag) != 0,
                };
            }

            long length = ReadNumber(start, i + 4, 4, isLittle: true);
            i += 8 + length + (length & 1);
        }

        return Incomplete(PictureFormat.WebP);
    }

    private static PictureHeader DescribeWebP(long width, long height, long tenthsOfPixel) =>
        new(PictureFormat.WebP, width, height, width * height * tenthsOfPixel / 10);

    // The plane itself. The lowest two bits of the first byte say whether it is compressed. If so, its decoder takes a byte for each pixel
    // of a palette, and otherwise four bytes.
    private static long TenthsOfAlpha(byte first, byte second)
    {
        const int hasPalette = 0b111;
        return (first & 3) == 0 ? TenthsOfRawAlpha
            : (second & hasPalette) == hasPalette ? TenthsOfPaletteAlpha
            : TenthsOfCompressedAlpha;
    }

    // Whether it is an animation, or interlaced, stands further behind. Decoders make the picture as large as its first frame needs it.
    private static PictureHeader ReadGif(ReadOnlySpan<byte> start)
    {
        if (start.Length < 10)
        {
            return Incomplete(PictureFormat.Gif);
        }

        long width = ReadNumber(start, 6, 2, isLittle: true);
        long height = ReadNumber(start, 8, 2, isLittle: true);
        if (FindFirstFrame(start) is int frame)
        {
            width = Math.Max(width, ReadNumber(start, frame, 2, isLittle: true) + ReadNumber(start, frame + 4, 2, isLittle: true));
            height = Math.Max(height, ReadNumber(start, frame + 2, 2, isLittle: true) + ReadNumber(start, frame + 6, 2, isLittle: true));
        }

        return new(PictureFormat.Gif, width, height) { IsAnimated = true };
    }

    // Behind the table of colours and the extensions, each in blocks of up to 255 bytes. Null if it is beyond the given bytes.
    private static int? FindFirstFrame(ReadOnlySpan<byte> start)
    {
        const int hasTable = 0x80;
        const int extension = 0x21;
        const int image = 0x2C;
        int at = start.Length > 10 && (start[10] & hasTable) != 0 ? 13 + (3 << ((start[10] & 7) + 1)) : 13;
        while (at < start.Length && start[at] == extension)
        {
            at += 2;
            while (at < start.Length && start[at] != 0)
            {
                at += 1 + start[at];
            }

            at++;
        }

        return at + 9 <= start.Length && start[at] == image ? at + 1 : null;
    }

    private static PictureHeader ReadBmp(ReadOnlySpan<byte> start)
    {
        if (start.Length < 26)
        {
            return Incomplete(PictureFormat.Bmp);
        }

        // The oldest header has 12 bytes and sizes of 16 bits. A negative height means that the first row is the topmost.
        return ReadNumber(start, 14, 4, isLittle: true) == 12
            ? new(PictureFormat.Bmp, ReadNumber(start, 18, 2, isLittle: true), ReadNumber(start, 20, 2, isLittle: true))
            : new(
                PictureFormat.Bmp,
                Math.Max(0, BinaryPrimitives.ReadInt32LittleEndian(start.Slice(18))),
                Math.Abs((long)BinaryPrimitives.ReadInt32LittleEndian(start.Slice(22))));
    }

    private static long Multiply(long a, long b) => Native.ByteCount.Multiply(a, b);

    private static long Add(long a, long b) => Native.ByteCount.Add(a, b);
}

namespace LoadResizeSave.Pictures;

/// <summary>
/// What a JPEG says of its components before its first scan. The library tells none of it, and it decides how much memory decoding takes.
/// </summary>
/// <param name="HasSeveralScans">
/// Whether the picture comes in layers: then the library keeps all coefficients until the last has come.
/// </param>
internal readonly record struct JpegFrame(int Width, long Coefficients, bool HasSeveralScans)
{
    private const int BlockSide = 8;
    private const byte StartOfScan = 0xDA;

    // Rows of blocks in every form between coefficients and colours, and tables.
    private const int WorkingRows = 64;
    private const long TablesInBytes = 512 * 1024;

    public long DecoderBytes => WorkingBytes(Width) + (HasSeveralScans ? Coefficients * sizeof(short) : 0);

    public static long WorkingBytes(int width) => TablesInBytes + ((long)WorkingRows * width);

    public static JpegFrame Read(ReadOnlySpan<byte> start)
    {
        ReadOnlySpan<byte> frame = default;
        bool isProgressive = false;
        for (int i = 2; i + 4 <= start.Length;)
        {
            byte marker = start[i + 1];
            if (start[i] != 0xFF || marker == 0xFF)
            {
                // Bytes to fill up with stand before a marker.
                i++;
                continue;
            }

            if (marker is 0x01 or (>= 0xD0 and <= 0xD8))
            {
                i += 2;
                continue;
            }

            int length = BinaryPrimitives.ReadUInt16BigEndian(start[(i + 2)..]);
            ReadOnlySpan<byte> segment = start[Math.Min(i + 4, start.Length)..Math.Min(i + 2 + Math.Max(2, length), start.Length)];
            if (IsFrame(marker))
            {
                frame = segment;
                isProgressive = (marker & 3) == 2;
            }
            else if (marker == StartOfScan && !segment.IsEmpty)
            {
                return Parse(frame, isProgressive, componentsInFirstScan: segment[0]);
            }

            i += 2 + Math.Max(2, length);
        }

        throw new UnreadablePictureException("the file is cut short: there is no scan");
    }

    // C4, C8 and CC are tables and extensions among them.
    private static bool IsFrame(byte marker) => marker is >= 0xC0 and <= 0xCF and not (0xC4 or 0xC8 or 0xCC);

    // Precision, height, width, the number of components, and for each its name, its two factors of sampling and its table.
    private static JpegFrame Parse(ReadOnlySpan<byte> frame, bool isProgressive, int componentsInFirstScan)
    {
        if (frame.Length < 6 || frame.Length < 6 + (3 * frame[5]))
        {
            throw new UnreadablePictureException("there is no frame before the first scan");
        }

        int height = BinaryPrimitives.ReadUInt16BigEndian(frame[1..]);
        int width = BinaryPrimitives.ReadUInt16BigEndian(frame[3..]);
        int count = frame[5];
        (int across, int down) = (1, 1);
        for (int i = 0; i < count; i++)
        {
            (int h, int v) = Factors(frame, i);
            (across, down) = (Math.Max(across, h), Math.Max(down, v));
        }

        long unitsAcross = Ceiling(width, across * BlockSide);
        long unitsDown = Ceiling(height, down * BlockSide);
        long blocks = 0;
        for (int i = 0; i < count; i++)
        {
            (int h, int v) = Factors(frame, i);
            blocks += unitsAcross * h * unitsDown * v;
        }

        return new JpegFrame(width, blocks * BlockSide * BlockSide, isProgressive || componentsInFirstScan < count);
    }

    private static (int Across, int Down) Factors(ReadOnlySpan<byte> frame, int component)
    {
        byte factors = frame[6 + (3 * component) + 1];
        return (factors >> 4, factors & 15);
    }

    private static int Ceiling(int value, int divisor) => (value + divisor - 1) / divisor;
}

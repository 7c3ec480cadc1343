using System.Buffers.Binary;

namespace Allocator.Skia;

/// <summary>Reads from a JPEG how much of it the decoder keeps at once: a few rows, or all coefficients.</summary>
internal static class JpegHeader
{
    private const int SizeOfBlock = 8;
    private const int BytesOfBlock = SizeOfBlock * SizeOfBlock * sizeof(short);

    private const byte EndOfImage = 0xD9;
    private const byte StartOfScan = 0xDA;
    private const byte HuffmanTables = 0xC4;
    private const byte ArithmeticReset = 0xC8;
    private const byte ArithmeticTables = 0xCC;

    /// <summary>
    /// Returns the bytes of all coefficients if the picture comes in several scans, as a progressive one does; 0 if it comes in one.
    /// </summary>
    public static long CoefficientBytes(ReadOnlySpan<byte> start) => Read(start).CoefficientBytes;

    /// <summary>
    /// Returns whether a file is cut off and Skia does not report it: if a picture has several scans, Skia decodes those that are there
    /// and reports success.
    /// </summary>
    public static bool IsCutOff(ReadOnlySpan<byte> file)
    {
        (long coefficients, int firstScan) = Read(file);

        // Within a scan's data this byte never follows 0xFF.
        return coefficients > 0 && file[firstScan..].LastIndexOf((ReadOnlySpan<byte>)[0xFF, EndOfImage]) < 0;
    }

    private static (long CoefficientBytes, int FirstScan) Read(ReadOnlySpan<byte> start)
    {
        ReadOnlySpan<byte> frame = default;
        bool isProgressive = false;

        // The start of the image, then segments: 0xFF, a marker, a length that includes itself.
        for (int at = 2; at + 4 <= start.Length;)
        {
            byte marker = start[at + 1];
            if (start[at] != 0xFF || marker == 0xFF)
            {
                // Fill bytes may stand before a marker.
                at++;
                continue;
            }

            int length = BinaryPrimitives.ReadUInt16BigEndian(start[(at + 2)..]);
            ReadOnlySpan<byte> segment = start[(at + 4)..Math.Min(start.Length, at + 2 + Math.Max(length, 2))];
            if (marker is >= 0xC0 and <= 0xCF and not (HuffmanTables or ArithmeticReset or ArithmeticTables))
            {
                frame = segment;
                isProgressive = marker is 0xC2 or 0xC6 or 0xCA or 0xCE;
            }
            else if (marker == StartOfScan)
            {
                bool isInOneScan = !isProgressive && segment.Length > 0 && frame.Length > 5 && segment[0] >= frame[5];
                return (isInOneScan ? 0 : OfFrame(frame), at);
            }

            at += 2 + Math.Max(length, 2);
        }

        return (OfFrame(frame), start.Length);
    }

    // The depth, height and width; then for each component its name, its sampling factors across and down, and its table.
    private static long OfFrame(ReadOnlySpan<byte> frame)
    {
        const int beginning = 6;
        const int bytesOfComponent = 3;
        if (frame.Length < beginning || frame.Length < beginning + (frame[5] * bytesOfComponent))
        {
            return 0;
        }

        int height = BinaryPrimitives.ReadUInt16BigEndian(frame[1..]);
        int width = BinaryPrimitives.ReadUInt16BigEndian(frame[3..]);
        int mostAcross = 1;
        int mostDown = 1;
        long blocksOfUnit = 0;
        for (int i = 0; i < frame[5]; i++)
        {
            byte sampling = frame[beginning + (i * bytesOfComponent) + 1];
            mostAcross = Math.Max(mostAcross, sampling >> 4);
            mostDown = Math.Max(mostDown, sampling & 15);
            blocksOfUnit += (sampling >> 4) * (sampling & 15);
        }

        long across = (width + (SizeOfBlock * mostAcross) - 1) / (SizeOfBlock * mostAcross);
        long down = (height + (SizeOfBlock * mostDown) - 1) / (SizeOfBlock * mostDown);
        return across * down * blocksOfUnit * BytesOfBlock;
    }
}

namespace Allocator.Skia;

/// <summary>A JPEG without an end marker. The decoder needs one: offered here, it decodes as far as the data goes.</summary>
/// <param name="At">Where the marker belongs: behind the data of the last scan, before anything else that follows.</param>
/// <param name="HasAllScans">Whether the scans contain each coefficient down to its last bit.</param>
/// <param name="IsInFirstScan">Whether the first scan is the last one.</param>
/// <param name="NextRestart">The number of the restart marker that the last scan lacks; null if it has all.</param>
internal readonly record struct UnendedJpeg(int At, bool HasAllScans, bool IsInFirstScan, int? NextRestart)
{
    /// <summary>Gets the most bytes that replace what follows the scan.</summary>
    public const int LongestEnd = 128;

    /// <summary>Writes the end marker.</summary>
    /// <returns>The length of what was written.</returns>
    public static int WriteEnd(Span<byte> target)
    {
        (target[0], target[1]) = (0xFF, 0xD9);
        return 2;
    }

    /// <summary>
    /// Writes data that might follow, then the end marker. Rows that come out different depend on missing data, because a decoder does not
    /// read past the last block.
    /// </summary>
    /// <returns>The length of what was written.</returns>
    public int WriteContinuation(Span<byte> target)
    {
        int length = 0;
        if (NextRestart is int restart)
        {
            (target[0], target[1]) = (0xFF, (byte)(0xD0 + restart));
            length = 2;
        }

        for (; length < LongestEnd - 2; length++)
        {
            // All combinations of bits, but no marker. The first is a one: where data is missing, a decoder reads zeros.
            byte value = (byte)(0xBD + (length * 151));
            target[length] = value == 0xFF ? (byte)0xA7 : value;
        }

        return length + WriteEnd(target[length..]);
    }
}

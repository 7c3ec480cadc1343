namespace Allocator.Skia;

/// <summary>
/// The end of a GIF: an empty block behind the data of a picture, and the trailer. Skia does not need the trailer, but treats a picture
/// without the empty block as cut off.
/// </summary>
internal static class GifEnd
{
    public const int Length = 2;

    // Signature, size, and the flags of the colour table.
    private const int HeaderBytes = 13;

    /// <summary>Returns whether a file ends behind a block of a picture's data: if that is all of it, only the end is missing.</summary>
    public static bool IsMissing(ReadOnlySpan<byte> file)
    {
        int at = file.Length < HeaderBytes ? file.Length : HeaderBytes + TableBytes(file[10]);
        while (at < file.Length)
        {
            bool isPicture = file[at] == ',' && at + 9 < file.Length;
            if (!isPicture && file[at] != '!')
            {
                return false;
            }

            at += isPicture ? 11 + TableBytes(file[at + 9]) : 2;
            while (at < file.Length && file[at] != 0)
            {
                at += 1 + file[at];
            }

            if (at == file.Length)
            {
                return isPicture;
            }

            at++;
        }

        return false;
    }

    /// <summary>Writes the end.</summary>
    /// <returns>The length of what was written.</returns>
    public static int Write(Span<byte> target)
    {
        (target[0], target[1]) = (0, (byte)';');
        return Length;
    }

    private static int TableBytes(byte flags) => (flags & 0x80) == 0 ? 0 : 6 << (flags & 7);
}

namespace LoadResizeSave.Codecs;

/// <summary>What a file's header claims; nothing is allocated for it before it was checked against the limit.</summary>
internal readonly record struct PictureSize(int Width, int Height)
{
    public long Pixels => (long)Width * Height;

    public double Megapixels => Pixels / 1e6;
}

/// <summary>A file cannot be decoded; the message says why to the user of the program. The file is then reported and skipped.</summary>
internal sealed class UnreadablePictureException : Exception
{
    public UnreadablePictureException(string reason)
        : base(reason)
    {
    }
}

/// <summary>Reads and writes one file format. Safe for concurrent callers.</summary>
internal interface IPictureCodec
{
    string Extension { get; }

    bool NeedsContiguousPixels { get; }

    bool Recognizes(ReadOnlySpan<byte> file);

    /// <param name="start">The file, or as much of its start as has the header.</param>
    PictureSize ReadSize(ReadOnlyMemory<byte> start);

    /// <summary>
    /// Returns false where a file of <paramref name="fileLength"/> bytes is too short for all the pixels that its header claims, whatever
    /// they are.
    /// </summary>
    bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength);

    /// <summary>
    /// Returns how much memory decoding takes at most, beside the file and its pixels: of the store, and of the codec's own.
    /// </summary>
    long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store);

    long EstimateEncoding(PictureSize size, PixelStore store);

    void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store);

    /// <summary>
    /// Encodes <paramref name="picture"/> to <paramref name="destination"/>; the same pixels always give the same bytes.
    /// </summary>
    void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store);
}

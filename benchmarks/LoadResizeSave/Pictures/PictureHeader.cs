namespace LoadResizeSave.Pictures;

/// <summary>What the start of a file says about the picture in it, which is enough to know what the work on it will take.</summary>
internal sealed class PictureHeader(IPictureCodec codec, PictureSize size, ReadOnlyMemory<byte> start, long fileLength)
{
    /// <summary>How much of a file is read to find its header; where that is not enough, more.</summary>
    public const int UsualLength = 64 * 1024;

    /// <summary>How far into a file its header may reach: cameras put whole pictures before the picture.</summary>
    public const int LongestLength = 1024 * 1024;

    public IPictureCodec Codec => codec;

    public PictureSize Size => size;

    /// <summary>Reads it from <paramref name="start"/>, which stays in use, of a file of <paramref name="fileLength"/> bytes.</summary>
    public static PictureHeader Read(ReadOnlyMemory<byte> start, long fileLength, PictureCodecs codecs)
    {
        IPictureCodec codec = codecs.Recognize(start.Span);
        return new PictureHeader(codec, codec.ReadSize(start), start, fileLength);
    }

    /// <summary>Refuses a picture that is too large, or of which the file can be but a part.</summary>
    public void Check(int maximumMegapixels)
    {
        if (Size.Megapixels > maximumMegapixels)
        {
            throw new UnreadablePictureException(
                $"the header claims {Size.Width} x {Size.Height} pixels, {Size.Megapixels:N0} million; the limit is "
                    + $"{maximumMegapixels} million");
        }

        if (!Codec.CouldHoldItsPixels(start, fileLength))
        {
            throw new UnreadablePictureException($"the header claims {Size.Width} x {Size.Height} pixels, more than {fileLength:N0} "
                + "bytes can hold");
        }
    }

    /// <summary>
    /// Returns how much memory it takes at most to hold the file in <paramref name="store"/> and to make a picture of
    /// <paramref name="target"/> of it.
    /// </summary>
    public long Estimate(PictureSize target, PixelStore store)
    {
        long pictures = store.EstimatePixels<Rgb24>(Size.Width, Size.Height) + store.EstimatePixels<Rgb24>(target.Width, target.Height);
        long decoding = Codec.EstimateDecoding(start, store);
        long resizing = Resizing.LanczosResizer.Estimate(Size, target, store);
        long encoding = Codec.EstimateEncoding(target, store);
        return store.Estimate<byte>(checked((int)fileLength)) + pictures + Math.Max(decoding, Math.Max(resizing, encoding));
    }
}

namespace LoadResizeSave.Codecs;

/// <summary>What a file's header claims; nothing is allocated for it before it was checked against the limit.</summary>
internal readonly record struct PictureSize(int Width, int Height)
{
    /// <summary>Gets the number of pixels.</summary>
    public long Pixels => (long)Width * Height;

    /// <summary>Gets the number of pixels in millions.</summary>
    public double Megapixels => Pixels / 1e6;
}

namespace LoadResizeSave.Codecs;

/// <summary>What a file's header claims; nothing is allocated for it before it was checked against the limit.</summary>
internal readonly record struct PictureSize(int Width, int Height)
{
    public long Pixels => (long)Width * Height;

    public double Megapixels => Pixels / 1e6;
}

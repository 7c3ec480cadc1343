namespace LoadResizeSave.Codecs.Png;

/// <summary>The colour types of a PNG, by the numbers that its header holds.</summary>
internal enum PngColourType : byte
{
    Gray = 0,

    Rgb = 2,

    Palette = 3,

    GrayAlpha = 4,

    Rgba = 6,
}

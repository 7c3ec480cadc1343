namespace LoadResizeSave.Codecs.Png;

/// <summary>The colour types of a PNG, by the numbers that its header holds.</summary>
internal enum PngColourType : byte
{
    /// <summary>One sample: brightness.</summary>
    Gray = 0,

    /// <summary>Three samples.</summary>
    Rgb = 2,

    /// <summary>One sample: the number of a palette entry.</summary>
    Palette = 3,

    /// <summary>Brightness and opacity.</summary>
    GrayAlpha = 4,

    /// <summary>Three samples and opacity.</summary>
    Rgba = 6,
}

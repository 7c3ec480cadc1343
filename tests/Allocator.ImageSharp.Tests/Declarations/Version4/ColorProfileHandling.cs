// Written by hand: see Memory.cs.
#pragma warning disable CS1591
namespace SixLabors.ImageSharp.Formats;

public enum ColorProfileHandling
{
    Preserve,
    Compact,
    Convert,
}

public enum SegmentIntegrityHandling
{
    Strict,
    IgnoreAncillary,
    IgnoreImageData,
}

public sealed partial class DecoderOptions
{
    public SegmentIntegrityHandling SegmentIntegrityHandling { get; init; } = SegmentIntegrityHandling.IgnoreAncillary;

    public ColorProfileHandling ColorProfileHandling { get; init; }
}

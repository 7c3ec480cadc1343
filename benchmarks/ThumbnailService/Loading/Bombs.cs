using SkiaSharp;

namespace ThumbnailService.Loading;

/// <summary>Files of some kilobytes that claim, or unpack to, hundreds of megabytes of pixels or more.</summary>
internal static class Bombs
{
    // Below the service's limit for a picture, and above the memory of its containers.
    private const int FlatSide = 9_990;
    private const ushort LongestJpegSide = 65_500;

    public static IReadOnlyList<UploadFile> Make() =>
    [
        new("promise.png", FlatPng.Make(100_000, rows: 1)),
        new("flat.png", FlatPng.Make(FlatSide, rows: FlatSide)),
        new("promise.jpg", Jpeg()),
    ];

    // The frame's height and width follow its marker, length and precision.
    private static byte[] Jpeg()
    {
        using SKBitmap small = new(64, 48);
        using SKData encoded = small.Encode(SKEncodedImageFormat.Jpeg, 90);
        byte[] file = encoded.ToArray();
        int frame = file.AsSpan().IndexOf((ReadOnlySpan<byte>)[0xFF, 0xC0]);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 5), LongestJpegSide);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 7), LongestJpegSide);
        return file;
    }
}

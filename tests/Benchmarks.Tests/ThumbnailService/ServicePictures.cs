namespace ThumbnailService.Tests;

/// <summary>Pictures that tests send.</summary>
internal static class ServicePictures
{
    private static readonly PictureCodecs s_codecs = new();

    /// <summary>Gets 32 × 16 pixels of one colour, by cjxl 0.7.</summary>
    public static byte[] Jxl { get; } = Convert.FromBase64String(
        "/wrDQUJxIQASCAEA8ABd5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwSBKLIO4GLgkEEEDMYwDHgD00PgAMoACVJAA=");

    public static byte[] Png(int width, int height) => Encode(s_codecs.Png, width, height);

    public static byte[] Jpeg(int width, int height) => Encode(s_codecs.Jpeg!, width, height);

    private static byte[] Encode(IPictureCodec codec, int width, int height)
    {
        using PixelStore store = PixelStore.Create(AllocatorKind.Unpooled, TimeSpan.FromMinutes(1));
        using Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(width, height, contiguous: true);
        picture.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                for (int x = 0; x < rows.Width; x++)
                {
                    rows[y][x] = new Rgb24((byte)x, (byte)y, (byte)(x ^ y));
                }
            }
        });
        using MemoryStream file = new();
        codec.Encode(picture, file, store);
        return file.ToArray();
    }
}

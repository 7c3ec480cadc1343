using LoadResizeSave.Tests;
using SkiaSharp;

namespace ThumbnailService.Tests;

/// <summary>Pictures that tests send.</summary>
internal static class ServicePictures
{
    public static byte[] Png(int width, int height) => Pictures.File(width, height, SKEncodedImageFormat.Png);

    public static byte[] Jpeg(int width, int height) => Pictures.File(width, height, SKEncodedImageFormat.Jpeg);

    public static byte[] WebP(int width, int height) => Pictures.File(width, height, SKEncodedImageFormat.Webp);
}

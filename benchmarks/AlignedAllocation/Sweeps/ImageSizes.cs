using System.Linq;

namespace AlignedAllocation.Sweeps;

/// <summary>The sizes of the document's sweep: the twenty of OpenCV's performance tests for allocation, small, odd and large in turn.</summary>
internal static class ImageSizes
{
    private static readonly (int Width, int Height)[] s_sizes =
    [
        (24, 24), (32, 32), (64, 64), (2592, 1944), (2048, 2048), (128, 128), (127, 61), (320, 240), (640, 480), (800, 600),
        (1280, 720), (1920, 1080), (3840, 2160), (7680, 4320), (2048, 1536), (1024, 768), (1280, 1024), (2560, 1440), (640, 360), (960, 540),
    ];

    /// <summary>Gets how many sizes there are.</summary>
    public static int Count => s_sizes.Length;

    /// <summary>Lists the bytes of an image of each size, of pixels of <paramref name="bytesPerPixel"/> bytes.</summary>
    public static int[] ListBytes(int bytesPerPixel) => [.. s_sizes.Select(size => size.Width * size.Height * bytesPerPixel)];
}

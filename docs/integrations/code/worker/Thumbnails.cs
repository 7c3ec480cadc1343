using Allocator;

namespace Worker;

/// <summary>Stands for a codec: it draws a photograph and makes it smaller, in memory of the allocator that it is given.</summary>
internal static class Thumbnails
{
    private const int Width = 200;

    /// <summary>Returns the size of the thumbnail, and the mean of its pixels.</summary>
    public static string Make(MemoryAllocator memory, int width, int height)
    {
        using PixelBuffer<uint> photograph = memory.AllocatePixels<uint>(width, height);
        photograph.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<uint> row = rows.GetRowSpan(y);
                for (int x = 0; x < row.Length; x++)
                {
                    row[x] = (uint)((x ^ y) & 0xff);
                }
            }
        });

        int step = Math.Max(1, width / Width);
        using PixelBuffer<uint> thumbnail = memory.AllocatePixels<uint>(width / step, Math.Max(1, height / step));
        long sum = 0;
        for (int y = 0; y < thumbnail.Height; y++)
        {
            Span<uint> to = thumbnail.DangerousGetRowSpan(y);
            Span<uint> from = photograph.DangerousGetRowSpan(y * step);
            for (int x = 0; x < to.Length; x++)
            {
                sum += to[x] = from[x * step];
            }
        }

        return $"{thumbnail.Width} x {thumbnail.Height}, {sum / ((long)thumbnail.Width * thumbnail.Height)}";
    }
}

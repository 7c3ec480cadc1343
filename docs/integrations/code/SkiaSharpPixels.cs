using System;
using Allocator;
using SkiaSharp;

namespace Integrations;

/// <summary>Pooled pixels as SkiaSharp bitmaps, and the other way round, without a copy.</summary>
public static class SkiaSharpPixels
{
    /// <summary>
    /// Makes a bitmap of contiguous pixels. They are the bitmap's from now on, and go back to the pool when Skia releases them.
    /// </summary>
    public static SKBitmap ToBitmap(PixelBuffer<uint> buffer, SKAlphaType alphaType = SKAlphaType.Premul)
    {
        SKImageInfo info = new(buffer.Width, buffer.Height, SKColorType.Rgba8888, alphaType);
        SKBitmap bitmap = new();
        try
        {
            NativePixels pixels = buffer.HandOff();
            if (bitmap.InstallPixels(info, pixels.Pointer, pixels.RowBytes, Release, pixels))
            {
                return bitmap;
            }

            // Whether Skia has released them by now or not: a second release does nothing.
            pixels.Dispose();
            throw new InvalidOperationException("Skia refused the pixels.");
        }
        catch
        {
            bitmap.Dispose();
            throw;
        }
    }

    /// <summary>Gives a bitmap's pixels, of 4 bytes each, as a pixel buffer. Disposing that disposes the bitmap.</summary>
    [return: OwnedBuffer]
    public static PixelBuffer<uint> ToPixelBuffer(SKBitmap bitmap, MemoryAllocator allocator) =>
        allocator.WrapPixels<uint>(bitmap.GetPixels(), bitmap.Width, bitmap.Height, bitmap.RowBytes, bitmap.Dispose);

    private static void Release(IntPtr address, object context)
    {
        try
        {
            ((NativePixels)context).Dispose();
        }
        catch (MemoryCorruptedException)
        {
            // Guarded mode has found a write outside of the pixels, and raises an event too. Thrown through Skia it would end the process.
        }
    }
}

using System;
using Allocator;
using NetVips;

namespace Integrations;

/// <summary>Pooled pixels as a libvips image, without a copy.</summary>
public static class NetVipsPixels
{
    /// <summary>
    /// Calls a delegate with contiguous, packed pixels of 4 bytes as an image, and releases them afterwards. libvips computes late:
    /// whatever is made of the image must be written, or copied to memory, and disposed before the delegate returns.
    /// </summary>
    public static void Process(PixelBuffer<uint> buffer, Action<Image> action)
    {
        // libvips knows no gap between rows.
        if (buffer.RowStride != buffer.Width)
        {
            throw new ArgumentException("The rows are not packed.", nameof(buffer));
        }

        using NativePixels pixels = buffer.HandOff();
        using Image image = Image.NewFromMemory(
            pixels.Pointer, (ulong)pixels.LengthInBytes, pixels.Width, pixels.Height, 4, Enums.BandFormat.Uchar);
        action(image);
    }
}

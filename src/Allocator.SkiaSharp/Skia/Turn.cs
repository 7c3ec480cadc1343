using System.Runtime.Intrinsics;

namespace Allocator.Skia;

/// <summary>Copies rows of a stored picture to their places in the upright picture.</summary>
internal static class Turn
{
    /// <summary>Copies some rows of a picture.</summary>
    /// <param name="rows">The address of the first of these rows.</param>
    /// <param name="rowBytes">The bytes from one row to the next.</param>
    /// <param name="firstRow">The number in the picture of the first of these rows.</param>
    /// <param name="rowCount">The number of rows.</param>
    /// <param name="stored">The whole picture, as it is stored.</param>
    /// <param name="origin">The corner of the upright picture that the first row and column belong to.</param>
    /// <param name="target">The upright picture, of the same colour type.</param>
    public static void Copy(
        nint rows, int rowBytes, int firstRow, int rowCount, SKImageInfo stored, SKEncodedOrigin origin, PixelMemory target)
    {
        Strip strip = new(rows, rowBytes, firstRow, rowCount);
        switch (stored.BytesPerPixel)
        {
            case 1:
                Copy<byte>(strip, stored, origin, target);
                break;
            case 2:
                Copy<ushort>(strip, stored, origin, target);
                break;
            case 4:
                Copy<uint>(strip, stored, origin, target);
                break;
            case 8:
                Copy<ulong>(strip, stored, origin, target);
                break;
            default:
                Copy<Vector128<byte>>(strip, stored, origin, target);
                break;
        }
    }

    private static unsafe void Copy<TPixel>(Strip strip, SKImageInfo stored, SKEncodedOrigin origin, PixelMemory target)
        where TPixel : unmanaged
    {
        nint stride = target.RowBytes / sizeof(TPixel);
        nint lastColumn = stored.Width - 1;
        nint lastRow = stored.Height - 1;

        // The place of the first pixel, and the distances between the pixels of a row and of a column.
        (nint first, nint alongRow, nint alongColumn) = origin switch
        {
            SKEncodedOrigin.TopRight => (lastColumn, -1, stride),
            SKEncodedOrigin.BottomRight => ((lastRow * stride) + lastColumn, -1, -stride),
            SKEncodedOrigin.BottomLeft => (lastRow * stride, 1, -stride),
            SKEncodedOrigin.LeftTop => (0, stride, 1),
            SKEncodedOrigin.RightTop => (lastRow, stride, -1),
            SKEncodedOrigin.RightBottom => ((lastColumn * stride) + lastRow, -stride, -1),
            SKEncodedOrigin.LeftBottom => (lastColumn * stride, -stride, (nint)1),
            _ => (0, (nint)1, stride),
        };

        TPixel* pixels = (TPixel*)target.Address + first + (strip.FirstRow * alongColumn);
        if (DecodePlan.IsTurned(origin))
        {
            for (nint x = 0; x <= lastColumn; x++)
            {
                byte* source = (byte*)strip.Address + (x * sizeof(TPixel));
                TPixel* destination = pixels + (x * alongRow);
                for (int y = 0; y < strip.Count; y++)
                {
                    *destination = *(TPixel*)source;
                    source += strip.RowBytes;
                    destination += alongColumn;
                }
            }

            return;
        }

        for (nint y = 0; y < strip.Count; y++)
        {
            ReadOnlySpan<TPixel> source = new((byte*)strip.Address + (y * strip.RowBytes), stored.Width);
            TPixel* destination = pixels + (y * alongColumn);
            if (alongRow == 1)
            {
                source.CopyTo(new Span<TPixel>(destination, stored.Width));
                continue;
            }

            Span<TPixel> reversed = new(destination - lastColumn, stored.Width);
            source.CopyTo(reversed);
            reversed.Reverse();
        }
    }

    private readonly record struct Strip(nint Address, nint RowBytes, int FirstRow, int Count);
}

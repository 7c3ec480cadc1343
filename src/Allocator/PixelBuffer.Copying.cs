using System;

namespace Allocator;

/// <content>What is done to all pixels at once.</content>
public sealed partial class PixelBuffer<TPixel>
{
    /// <summary>Copies all pixels to a buffer of the same width and height.</summary>
    /// <exception cref="ArgumentNullException"><paramref name="destination"/> is null.</exception>
    /// <exception cref="ArgumentException">The sizes differ.</exception>
    /// <exception cref="ObjectDisposedException">One of the buffers has been disposed.</exception>
    public void CopyTo([Borrowed] PixelBuffer<TPixel> destination)
    {
        Throw.IfNull(destination, nameof(destination));
        if (destination.Width != Width || destination.Height != Height)
        {
            Throw.SizeMismatch(nameof(destination), destination.Width, destination.Height, Width, Height);
        }

        ProcessPixelRows(destination, static (source, target) =>
        {
            for (int y = 0; y < source.Height; y++)
            {
                source.GetRowSpan(y).CopyTo(target.GetRowSpan(y));
            }
        });
    }

    /// <summary>Allocates a copy, of the same row alignment and as contiguous, with the allocator that this buffer is from.</summary>
    /// <returns>The copy, which the caller disposes.</returns>
    /// <exception cref="ObjectDisposedException">The buffer, or its allocator, has been disposed.</exception>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> Clone()
    {
        _group.ThrowIfDisposed();
        PixelBuffer<TPixel> clone = _allocator.AllocatePixels<TPixel>(
            Width, Height, IsContiguous ? AllocationOptions.Contiguous : AllocationOptions.None, _rowAlignmentInBytes);
        try
        {
            CopyTo(clone);
            return clone;
        }
        catch
        {
            clone.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Sets all pixels to zero. What lies between two rows, where <see cref="RowStride"/> is more than <see cref="Width"/>, is left as it
    /// is.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public void Clear()
    {
        if (RowStride == Width)
        {
            _group.Clear();
            return;
        }

        ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Clear();
            }
        });
    }
}

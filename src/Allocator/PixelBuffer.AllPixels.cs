using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Allocator;

/// <content>What is done with all pixels at once: copying, clearing, and the way out to native code.</content>
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

        if (RowStride == Width && destination.RowStride == Width)
        {
            // Packed on both sides: the longest pieces there are, not rows.
            _group.CopyTo(destination._group);
            return;
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
    /// Sets all pixels to zero, but not what lies between rows, where <see cref="RowStride"/> is above <see cref="Width"/>.
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

    /// <summary>
    /// Hands the pixels to native code: returns their address, which does not move, and what releases them. They are the result's from now
    /// on: this buffer counts as disposed, and throws <see cref="ObjectDisposedException"/>.
    /// </summary>
    /// <returns>The pixels, which the caller, or native code by its release callback, releases.</returns>
    /// <remarks>
    /// Costs some small objects; pixels in an array are pinned. Nothing but a release takes the memory back, neither the garbage collector
    /// nor disposing the allocator: what is never released stays outstanding for ever. Where this throws, nothing has changed.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The pixels are not contiguous: allocate them with <see cref="AllocationOptions.Contiguous"/>. Or a row has more than
    /// <see cref="int.MaxValue"/> bytes.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed, or handed off.</exception>
    [return: OwnedBuffer]
    public NativePixels HandOff()
    {
        _group.ThrowIfDisposed();
        if (!IsContiguous)
        {
            Throw.NotContiguous(_group.Count);
        }

        long rowBytes = (long)RowStride * Unsafe.SizeOf<TPixel>();
        if (rowBytes > int.MaxValue)
        {
            Throw.RowsTooLong(rowBytes);
        }

        NativePixels pixels;
        MemoryHandle pin = _group[0].Pin();
        try
        {
            pixels = new NativePixels(pin, Width, Height, (int)rowBytes, (Height - 1) * rowBytes + (long)Width * Unsafe.SizeOf<TPixel>());
        }
        catch
        {
            pin.Dispose();
            throw;
        }

        // The pin keeps the memory; the owner's own reference goes. Of several calls at once only one has handed off.
        if (!_group.TryDisposePinned())
        {
            pixels.Dispose();
            _group.ThrowIfDisposed();
        }

        return pixels;
    }
}

using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Allocator;

/// <content>The way out to native code.</content>
public sealed partial class PixelBuffer<TPixel>
{
    /// <summary>
    /// Hands the pixels to native code: gives their address, which does not move, and what releases them. They are the result's from now
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
            Throw.NotContiguous();
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

        // The pin keeps the memory; the owner's own reference goes. Of several who try at once only one has handed off.
        if (!_group.TryDisposePinned())
        {
            pixels.Dispose();
            _group.ThrowIfDisposed();
        }

        return pixels;
    }
}

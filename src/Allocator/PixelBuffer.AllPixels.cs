namespace Allocator;

/// <content>Operations on all pixels at once: copying, clearing, and handing them to native code.</content>
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
            throw new ArgumentException(
                Invariant($"destination is {destination.Width} x {destination.Height} pixels; {Width} x {Height} are needed."),
                nameof(destination));
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

    /// <summary>Copies all pixels from rows in other memory, a codec's for instance, whatever the blocks of this buffer.</summary>
    /// <param name="source">The rows. Its first element is the first pixel of the first row.</param>
    /// <param name="sourceRowStride">
    /// The pixels from the beginning of one row to that of the next, at least <see cref="Width"/>. Gaps between rows are not read.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sourceRowStride"/> is below the width.</exception>
    /// <exception cref="ArgumentException"><paramref name="source"/> ends before the last pixel of the last row.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public void CopyFrom(ReadOnlySpan<TPixel> source, int sourceRowStride)
    {
        ThrowIfNotRows(source.Length, nameof(source), sourceRowStride, nameof(sourceRowStride));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        PixelAccessor<TPixel> rows = Access(0, Height);
        for (int y = 0; y < Height; y++)
        {
            source.Slice(y * sourceRowStride, Width).CopyTo(rows.GetRowSpan(y));
        }
    }

    /// <summary>Copies all pixels to rows in other memory, whatever the blocks of this buffer.</summary>
    /// <param name="destination">The rows. Its first element becomes the first pixel of the first row.</param>
    /// <param name="destinationRowStride">
    /// The pixels from the beginning of one row to that of the next, at least <see cref="Width"/>. Gaps between rows are not written.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="destinationRowStride"/> is below the width.</exception>
    /// <exception cref="ArgumentException"><paramref name="destination"/> ends before the last pixel of the last row.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public void CopyTo(Span<TPixel> destination, int destinationRowStride)
    {
        ThrowIfNotRows(destination.Length, nameof(destination), destinationRowStride, nameof(destinationRowStride));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        PixelAccessor<TPixel> rows = Access(0, Height);
        for (int y = 0; y < Height; y++)
        {
            rows.GetRowSpan(y).CopyTo(destination.Slice(y * destinationRowStride, Width));
        }
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
    /// Sets all pixels to zero, but not the gaps between rows that exist if <see cref="RowStride"/> is above <see cref="Width"/>.
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

    /// <summary>Sets all pixels to a value, but not the gaps between rows.</summary>
    /// <inheritdoc cref="Clear" path="/exception"/>
    public void Fill(TPixel value)
    {
        if (RowStride == Width)
        {
            _group.Fill(value);
            return;
        }

        ProcessPixelRows(
            static (rows, value) =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    rows.GetRowSpan(y).Fill(value);
                }
            },
            value);
    }

    /// <summary>
    /// Pins contiguous pixels for native code: their address does not change, and the memory stays, until the handle is disposed, even
    /// past <see cref="Dispose"/>. Rows are <see cref="RowStride"/> pixels apart.
    /// </summary>
    /// <returns>The address of the first pixel, in a handle that the caller disposes, once.</returns>
    /// <remarks>For native code that keeps the pixels and releases them itself there is <see cref="HandOff"/>.</remarks>
    /// <exception cref="InvalidOperationException">
    /// The pixels are not contiguous: allocate them with <see cref="AllocationOptions.Contiguous"/>. Or they are pinned or in use 65,535
    /// times.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public MemoryHandle Pin()
    {
        ThrowIfNotContiguous();
        return _group[0].Pin();
    }

    /// <summary>
    /// Hands the pixels to native code: returns their address, which does not move, and a function that releases them. From now on the
    /// result has them: this buffer counts as disposed, and throws <see cref="ObjectDisposedException"/>.
    /// </summary>
    /// <returns>The pixels. The caller releases them, or native code does by its release callback.</returns>
    /// <remarks>
    /// Costs some small objects; pixels in an array are pinned. Only a release takes the memory back, neither the garbage collector nor
    /// disposing the allocator: without a release it stays outstanding for ever. If this throws, nothing has changed.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The pixels are not contiguous: allocate them with <see cref="AllocationOptions.Contiguous"/>. Or a row has more than
    /// <see cref="int.MaxValue"/> bytes.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed, or handed off.</exception>
    [return: OwnedBuffer]
    public NativePixels HandOff()
    {
        ThrowIfNotContiguous();
        long rowBytes = (long)RowStride * Unsafe.SizeOf<TPixel>();
        if (rowBytes > int.MaxValue)
        {
            throw new InvalidOperationException(
                Invariant($"A row takes {rowBytes:N0} bytes; native code counts them in 32 bits, up to {int.MaxValue:N0}. ")
                    + "The buffer is as it was.");
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

            // A copy of an earlier pin was disposed again, which ended this one.
            return HandOff();
        }

        return pixels;
    }

    private void ThrowIfNotContiguous()
    {
        _group.ThrowIfDisposed();
        if (!IsContiguous)
        {
            throw new InvalidOperationException(
                Invariant($"The pixels lie in {_group.Count} pieces of memory, and native code takes one: allocate them with ")
                    + "AllocationOptions.Contiguous, or with MemoryAllocatorOptions.PreferContiguous. The buffer is as it was.");
        }
    }

    private void ThrowIfNotRows(int length, string name, int rowStride, string strideName) =>
        Throw.IfTooShort(name, length, MemoryAllocator.LengthOfRows(Width, Height, rowStride, strideName));
}

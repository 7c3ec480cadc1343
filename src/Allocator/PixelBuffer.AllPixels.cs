namespace Allocator;

/// <content>Operations on all pixels at once: copying, clearing, and handing them to native code.</content>
public sealed partial class PixelBuffer<TPixel>
{
    /// <summary>Copies all pixels to a buffer of the same width and height.</summary>
    /// <remarks>
    /// If both are views of the same memory with different strides, the copy takes a temporary buffer of the whole image, which is
    /// refused as by <see cref="MemoryAllocator.AllocatePixels{TPixel}"/>.
    /// </remarks>
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

        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        using MemoryGroup<byte>.Reference destinationReference = destination._group.AddReference();
        Copy(Access(0, Height), destination.Access(0, Height));
    }

    /// <summary>Copies all pixels from rows in other memory, a codec's for instance. This buffer may be in several blocks.</summary>
    /// <param name="source">The rows. Its first element is the first pixel of the first row.</param>
    /// <param name="sourceRowStride">
    /// The pixels from the beginning of one row to that of the next, at least <see cref="Width"/>. Gaps between rows are not read.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sourceRowStride"/> is below the width.</exception>
    /// <exception cref="ArgumentException"><paramref name="source"/> ends before the last pixel of the last row.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public unsafe void CopyFrom(ReadOnlySpan<TPixel> source, int sourceRowStride)
    {
        ThrowIfNotRows(source.Length, nameof(source), sourceRowStride, nameof(sourceRowStride));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        fixed (TPixel* first = source)
        {
            Copy(AccessOther(first, sourceRowStride), Access(0, Height));
        }
    }

    /// <summary>Copies all pixels to rows in other memory. This buffer may be in several blocks.</summary>
    /// <param name="destination">The rows. Its first element becomes the first pixel of the first row.</param>
    /// <param name="destinationRowStride">
    /// The pixels from the beginning of one row to that of the next, at least <see cref="Width"/>. Gaps between rows are not written.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="destinationRowStride"/> is below the width.</exception>
    /// <exception cref="ArgumentException"><paramref name="destination"/> ends before the last pixel of the last row.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public unsafe void CopyTo(Span<TPixel> destination, int destinationRowStride)
    {
        ThrowIfNotRows(destination.Length, nameof(destination), destinationRowStride, nameof(destinationRowStride));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        fixed (TPixel* first = destination)
        {
            Copy(Access(0, Height), AccessOther(first, destinationRowStride));
        }
    }

    /// <summary>Allocates a copy from the same allocator, with the same row alignment, contiguous if this buffer is.</summary>
    /// <returns>The copy, which the caller disposes.</returns>
    /// <remarks>It may wait or be refused as by <see cref="MemoryAllocator.AllocatePixels{TPixel}"/>.</remarks>
    /// <exception cref="MemoryLimitExceededException">There is no room for the copy.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses the memory.</exception>
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
    /// Sets all pixels to zero, but not the gaps between rows that exist if <see cref="RowStrideInBytes"/> is above the bytes of a row.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public void Clear()
    {
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        PixelAccessor<TPixel> rows = Access(0, Height);
        for (int y = 0, run; y < Height; y += run)
        {
            rows.GetRun(y, out run).Clear();
        }
    }

    /// <summary>Sets all pixels to a value, but not the gaps between rows.</summary>
    /// <inheritdoc cref="Clear" path="/exception"/>
    public void Fill(TPixel value)
    {
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        PixelAccessor<TPixel> rows = Access(0, Height);
        for (int y = 0, run; y < Height; y += run)
        {
            rows.GetRun(y, out run).Fill(value);
        }
    }

    /// <summary>
    /// Pins contiguous pixels for native code: their address does not change, and the memory stays, until the handle is disposed, even
    /// past <see cref="Dispose"/>. Rows are <see cref="RowStrideInBytes"/> apart.
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
        return new RowMemory<TPixel>(this, 0, Width).Pin();
    }

    /// <summary>
    /// Hands the pixels to native code: returns their address, which does not move, and a function that releases them. From now on the
    /// result owns them: this buffer counts as disposed, and throws <see cref="ObjectDisposedException"/>.
    /// </summary>
    /// <returns>The pixels. The caller releases them, or native code does by its release callback.</returns>
    /// <remarks>
    /// Costs some small objects; pixels in an array are pinned. Only a release takes the memory back, neither the garbage collector nor
    /// disposing the allocator: without a release it stays outstanding for ever. If this throws, nothing has changed.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The pixels are not contiguous: allocate them with <see cref="AllocationOptions.Contiguous"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed, or handed off.</exception>
    [return: OwnedBuffer]
    public NativePixels HandOff()
    {
        MemoryHandle pin = Pin();
        NativePixels pixels;
        try
        {
            long length = PixelRows.LengthInBytes(Width, Height, _rows.Stride, Unsafe.SizeOf<TPixel>());
            pixels = new NativePixels(pin, Width, Height, RowStrideInBytes, length);
        }
        catch
        {
            pin.Dispose();
            throw;
        }

        // The pin keeps the memory; the owner's own reference goes. Only one of several concurrent calls succeeds.
        if (!_group.TryDisposePinned())
        {
            pixels.Dispose();
            _group.ThrowIfDisposed();

            // A copy of an earlier pin was disposed again, which ended this one.
            return HandOff();
        }

        return pixels;
    }

    // Reads the address first, by a volatile read: it is this buffer's if the buffer is still held after that.
    internal unsafe Span<TPixel> DangerousGetSpan(int y, int length)
    {
        nint first = _group.FirstAddress();
        if (first == 0)
        {
            return DangerousGetSpanSlow(y, length);
        }

        _group.ThrowIfDisposed();
        return MemoryMarshal.CreateSpan(ref *(TPixel*)(first + _rows.OffsetOf(y, _group.Layout.Gap)), length);
    }

    private Span<TPixel> DangerousGetSpanSlow(int y, int length)
    {
        Span<byte> array = _group.Layout.IsSingle ? _group.GetMemberSpan(0) : default;
        _group.ThrowIfDisposed();
        return Access(0, array, 0, Height).GetSpan(y, length);
    }

    internal MemoryHandle Pin(int y, int x, IPinnable pinnable) => _group.Pin(OffsetOf(y) + (nint)x * Unsafe.SizeOf<TPixel>(), pinnable);

    internal void Unpin() => _group.Unpin();

    internal bool TryGetArray(int y, int length, out ArraySegment<TPixel> segment)
    {
        int offset = (int)(OffsetOf(y) / Unsafe.SizeOf<TPixel>());
        bool isArray = _group.TryGetArray(out segment) && OffsetOf(y) % Unsafe.SizeOf<TPixel>() == 0;
        segment = isArray ? new ArraySegment<TPixel>(segment.Array!, segment.Offset + offset, length) : default;
        return isArray;
    }

    // From the start of the memory to the first pixel of a row.
    private nint OffsetOf(int y)
    {
        y += _rows.Top;
        return _group.OffsetOf(_rows.Map.Find(y)) + _rows.Offset + y * _rows.Stride;
    }

    private void Copy(scoped PixelAccessor<TPixel> source, scoped PixelAccessor<TPixel> destination)
    {
        if (source.TryCopyTo(destination))
        {
            return;
        }

        // The same memory by other strides, as if an image is turned upside down in place.
        using PixelBuffer<TPixel> between = _allocator.AllocatePixels<TPixel>(Width, Height);
        using MemoryGroup<byte>.Reference reference = between._group.AddReference();
        source.TryCopyTo(between.Access(0, Height));
        between.Access(0, Height).TryCopyTo(destination);
    }

    // Pixels at an address, which the caller has pinned.
    private unsafe PixelAccessor<TPixel> AccessOther(TPixel* first, int rowStride) => new(
        (nint)first, default, 0, null, new PixelRows { Stride = (nint)rowStride * sizeof(TPixel), Width = Width, Height = Height }, 0);

    // Whether all pixels and the gaps between their rows can be one span of pixels, and of what length: with the last gap, if it is there.
    private bool TryGetSingleLength(out int length)
    {
        long first = (long)_rows.Top * _rows.Stride + _rows.Offset;
        long bytes = Math.Min((long)_rows.Stride * Height, _rows.EndOfMember(_group.TotalLength) - first);
        bool isSingle = IsContiguous && _rows.Stride > 0 && _rows.Stride % Unsafe.SizeOf<TPixel>() == 0
            && bytes / Unsafe.SizeOf<TPixel>() <= int.MaxValue;
        length = isSingle ? (int)(bytes / Unsafe.SizeOf<TPixel>()) : 0;
        return isSingle;
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

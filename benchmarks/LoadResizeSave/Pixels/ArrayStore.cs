namespace LoadResizeSave.Pixels;

/// <summary>Lends managed arrays: of <see cref="ArrayPool{T}.Shared"/>, or a new one each time.</summary>
internal sealed class ArrayStore(bool pooled) : PixelStore
{
    /// <summary>
    /// Gets what the collector holds of the operating system's memory. It counts that only when it collects; heap that grew since then is
    /// counted by its contents.
    /// </summary>
    public override long CommittedBytes
        => Math.Max(GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes, GC.GetTotalMemory(forceFullCollection: false));

    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
    {
        long bytes = (long)width * height * Unsafe.SizeOf<TPixel>();
        if (bytes > Array.MaxLength)
        {
            throw new OutOfMemoryException($"{bytes:N0} bytes are more than one array can hold.");
        }

        return new ArrayRaster<TPixel>(Allocate<byte>((int)bytes), width, height);
    }

    public override IMemoryOwner<T> Allocate<T>(int length) => new ArrayOwner<T>(length, pooled);

    private sealed class ArrayOwner<T>(int length, bool pooled) : IMemoryOwner<T>
    {
        private T[]? _array = pooled ? ArrayPool<T>.Shared.Rent(length) : new T[length];

        public Memory<T> Memory => (_array ?? throw new ObjectDisposedException(nameof(ArrayOwner<>))).AsMemory(0, length);

        public void Dispose()
        {
            if (pooled && _array is { } array)
            {
                ArrayPool<T>.Shared.Return(array);
            }

            _array = null;
        }
    }
}

/// <summary>A raster in one run of memory.</summary>
internal sealed class ArrayRaster<TPixel>(IMemoryOwner<byte> owner, int width, int height) : Raster<TPixel>
    where TPixel : unmanaged
{
    public override int Width => width;

    public override int Height => height;

    private PixelRows<TPixel> Rows => new(Pixels, width, height);

    private Span<TPixel> Pixels => MemoryMarshal.Cast<byte, TPixel>(owner.Memory.Span);

    public override void ProcessRows(RowsAction<TPixel> action) => action(Rows);

    public override void ProcessRows<TOther>(Raster<TOther> other, RowsPairAction<TPixel, TOther> action)
        => action(Rows, ((ArrayRaster<TOther>)other).Rows);

    public override bool TryProcessPixels(PixelSpanAction<TPixel> action)
    {
        action(Pixels);
        return true;
    }

    public override void Dispose() => owner.Dispose();
}

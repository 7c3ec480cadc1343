namespace LoadResizeSave.Pixels;

/// <summary>
/// Lends memory of the library: the pool, or with a pool size of zero the same code without pooling, or the pool with a budget.
/// </summary>
internal sealed class BlockStore : PixelStore
{
    private readonly MemoryAllocator _allocator;
    private readonly bool _reserves;

    /// <summary>
    /// Makes an allocator with <paramref name="options"/>. A job reserves all that it will take where <paramref name="reserves"/> is true,
    /// and unless given, where there is a budget.
    /// </summary>
    public BlockStore(MemoryAllocatorOptions options, bool? reserves = null)
        : this(MemoryAllocator.Create(options), reserves ?? options.MemoryBudgetMegabytes is not null)
    {
    }

    /// <summary>Lends from an allocator, or a reservation, that was made elsewhere. Disposing this disposes it.</summary>
    public BlockStore(MemoryAllocator allocator, bool reserves = false)
    {
        _allocator = allocator;
        _reserves = reserves;
    }

    public override long CommittedBytes => _allocator.GetStatistics().CommittedBytes;

    public override MemoryAllocatorStatistics? Statistics => _allocator.GetStatistics();

    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
        => new BlockRaster<TPixel>(
            _allocator.AllocatePixels<TPixel>(width, height, contiguous ? AllocationOptions.Contiguous : AllocationOptions.None));

    public override IMemoryOwner<T> Allocate<T>(int length) => _allocator.Allocate<T>(length);

    public override ValueTask<IMemoryOwner<T>> AllocateAsync<T>(int length) => _allocator.AllocateAsync<T>(length);

    public override long Estimate<T>(int length) => _allocator.EstimateBytes((long)length * Unsafe.SizeOf<T>());

    public override long EstimatePixels<TPixel>(int width, int height)
        => _allocator.EstimatePixelBytes(width, height, Unsafe.SizeOf<TPixel>());

    public override IDisposable? CountExternal(long bytes) => _allocator.TrackExternalMemory(bytes);

    public override NativeAllocationCallbacks? CreateNativeCallbacks() => _allocator.CreateNativeCallbacks();

    public override ValueTask<Admission> AdmitAsync(long bytes, CancellationToken cancellationToken)
        => _reserves ? ReserveAsync(bytes, cancellationToken) : base.AdmitAsync(bytes, cancellationToken);

    public override void Release() => _allocator.ReleaseRetainedResources();

    public override void Dispose() => _allocator.Dispose();

    private async ValueTask<Admission> ReserveAsync(long bytes, CancellationToken cancellationToken)
    {
        MemoryReservation reservation = await _allocator.ReserveAsync(bytes, cancellationToken);
        return new Admission(new BlockStore(reservation, reserves: false), reservation);
    }
}

/// <summary>A raster in a pixel buffer of the library: for PNG in as many blocks as it takes, for JPEG in one run of them.</summary>
internal sealed class BlockRaster<TPixel>(PixelBuffer<TPixel> buffer) : Raster<TPixel>
    where TPixel : unmanaged
{
    private readonly PixelBuffer<TPixel> _buffer = buffer;

    public override int Width => _buffer.Width;

    public override int Height => _buffer.Height;

    public override void ProcessRows(RowsAction<TPixel> action)
        => _buffer.ProcessPixelRows(static (accessor, action) => action(new PixelRows<TPixel>(accessor)), action);

    public override void ProcessRows<TOther>(Raster<TOther> other, RowsPairAction<TPixel, TOther> action)
        => _buffer.ProcessPixelRows(
            ((BlockRaster<TOther>)other)._buffer,
            (accessor, otherAccessor) => action(new PixelRows<TPixel>(accessor), new PixelRows<TOther>(otherAccessor)));

    public override bool TryProcessPixels(PixelSpanAction<TPixel> action) => _buffer.TryProcessSinglePixelSpan(action);

    public override void Dispose() => _buffer.Dispose();
}

namespace LoadResizeSave.Pixels;

/// <summary>What a job has set aside for it before it begins.</summary>
internal enum JobReservation
{
    None,

    /// <summary>What its picture's header says that it takes.</summary>
    Estimated,

    /// <summary>What earlier jobs took. The job allocates from the reservation.</summary>
    Learned,

    /// <summary>The same, and the job allocates from the allocator, as code does that is handed no reservation.</summary>
    Ambient,
}

/// <summary>
/// Lends memory of the library: the pool, or with a pool size of zero the same code without pooling, or the pool with a budget.
/// </summary>
internal sealed class BlockStore : PixelStore
{
    private const string JobName = "photographs";

    // As long as RequireMemory waits by default.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly MemoryAllocator _allocator;
    private readonly JobReservation _reserves;

    /// <summary>
    /// Makes an allocator with <paramref name="options"/>. Unless <paramref name="reserves"/> says otherwise, a job reserves all that it
    /// will take where there is a budget.
    /// </summary>
    public BlockStore(MemoryAllocatorOptions options, JobReservation? reserves = null)
        : this(
            MemoryAllocator.Create(options),
            reserves ?? (options.MemoryBudgetMegabytes is null ? JobReservation.None : JobReservation.Estimated))
    {
    }

    /// <summary>Lends from an allocator, or a reservation, that was made elsewhere. Disposing this disposes it.</summary>
    public BlockStore(MemoryAllocator allocator, JobReservation reserves = JobReservation.None)
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
        => _reserves switch
        {
            JobReservation.None => base.AdmitAsync(bytes, cancellationToken),
            JobReservation.Ambient => new ValueTask<Admission>(Use(cancellationToken)),
            _ => ReserveAsync(bytes, cancellationToken),
        };

    public override void Release() => _allocator.ReleaseRetainedResources();

    public override void Dispose() => _allocator.Dispose();

    private async ValueTask<Admission> ReserveAsync(long bytes, CancellationToken cancellationToken)
    {
        MemoryReservation reservation = await (_reserves == JobReservation.Learned
            ? _allocator.ReserveAsync(JobName, s_patience, cancellationToken)
            : _allocator.ReserveAsync(bytes, cancellationToken));
        return new Admission(new BlockStore(reservation), reservation);
    }

    // No asynchronous method, which would use it in a flow of its own.
    private Admission Use(CancellationToken cancellationToken)
    {
        MemoryReservation reservation =
            _allocator.ReserveAsync(JobName, s_patience, cancellationToken).AsTask().GetAwaiter().GetResult();
        return new Admission(this, new UsedReservation(reservation, reservation.Use()));
    }

    private sealed class UsedReservation(MemoryReservation reservation, MemoryReservation.UseScope use) : IDisposable
    {
        public void Dispose()
        {
            use.Dispose();
            reservation.Dispose();
        }
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

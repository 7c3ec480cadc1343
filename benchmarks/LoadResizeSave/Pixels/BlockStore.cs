namespace LoadResizeSave.Pixels;

/// <summary>How a job gets its reservation.</summary>
internal enum JobReservation
{
    None,

    /// <summary>By the estimate from its picture's header.</summary>
    Estimated,

    /// <summary>By what earlier jobs took. The job allocates from the reservation.</summary>
    Learned,

    /// <summary>Like <see cref="Learned"/>, but the job allocates from the allocator, as code without a reservation does.</summary>
    Ambient,
}

/// <summary>
/// Allocates from this library: the pool, the pool with a budget, or with a pool size of zero the same code without pooling.
/// </summary>
internal sealed class BlockStore : PixelStore
{
    private const string JobName = "photographs";

    // As long as RequireMemory waits by default.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly MemoryAllocator _allocator;
    private readonly JobReservation _reserves;

    public BlockStore(MemoryAllocatorOptions options, JobReservation reserves = JobReservation.None)
        : this(MemoryAllocator.Create(options), reserves)
    {
    }

    /// <summary>Allocates from an existing allocator or reservation. Disposing this disposes it.</summary>
    public BlockStore(MemoryAllocator allocator, JobReservation reserves = JobReservation.None)
    {
        _allocator = allocator;
        _reserves = reserves;
    }

    public override long CommittedBytes => _allocator.GetStatistics().CommittedBytes;

    public override MemoryAllocatorStatistics? Statistics => _allocator.GetStatistics();

    public override IMemoryOwner<byte> Allocate(int length) => _allocator.Allocate<byte>(length);

    public override ValueTask<IMemoryOwner<byte>> AllocateAsync(int length) => _allocator.AllocateAsync<byte>(length);

    public override long Estimate(long length) => _allocator.EstimateBytes(length);

    public override IDisposable? CountExternal(long bytes) => _allocator.TrackExternalMemory(bytes);

    public override ValueTask<Admission> AdmitAsync(long bytes, CancellationToken cancellationToken) => _reserves switch
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

    // Not asynchronous: the reservation would be in use in the flow of the asynchronous method only.
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

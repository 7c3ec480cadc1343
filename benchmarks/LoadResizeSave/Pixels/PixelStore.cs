namespace LoadResizeSave.Pixels;

/// <summary>The allocation strategies that the main job compares.</summary>
public enum AllocatorKind
{
    /// <summary><c>MemoryAllocator.Create()</c>: blocks are kept between pictures and trimmed when idle.</summary>
    Pool,

    /// <summary>The same allocator that retains nothing: every picture asks the operating system.</summary>
    Unpooled,

    /// <summary><c>ArrayPool&lt;byte&gt;.Shared</c>: arrays of the next power of two.</summary>
    ArrayPool,

    GC,
}

/// <summary>Names for tables and charts.</summary>
internal static class AllocatorNames
{
    public static string Name(this AllocatorKind kind) => kind switch
    {
        AllocatorKind.Pool => "pool",
        AllocatorKind.Unpooled => "unpooled",
        AllocatorKind.ArrayPool => "ArrayPool",
        _ => "GC arrays",
    };
}

/// <summary>A job that may begin. Disposing it when the job is done admits others.</summary>
/// <param name="store">The store that the job allocates from.</param>
internal sealed class Admission(PixelStore store, IDisposable? reservation = null) : IDisposable
{
    public PixelStore Store => store;

    public void Dispose() => reservation?.Dispose();
}

/// <summary>
/// Allocates all memory that a job uses: files and pictures. Nothing else differs between two measured runs, so differences in the result
/// come from the allocation strategy.
/// </summary>
internal abstract class PixelStore : IDisposable
{
    /// <summary>Gets the bytes that the allocator holds of the operating system's memory now.</summary>
    public abstract long CommittedBytes { get; }

    public virtual MemoryAllocatorStatistics? Statistics => null;

    public static PixelStore Create(AllocatorKind kind, TimeSpan trimPeriod) => kind switch
    {
        AllocatorKind.Pool => new BlockStore(new MemoryAllocatorOptions { Name = "pool", TrimPeriod = trimPeriod }),
        AllocatorKind.Unpooled => new BlockStore(
            new MemoryAllocatorOptions { Name = "unpooled", MaximumPoolSizeMegabytes = 0, TrimPeriod = trimPeriod }),
        AllocatorKind.ArrayPool => new ArrayStore(pooled: true),
        AllocatorKind.GC => new ArrayStore(pooled: false),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    /// <summary>Allocates exactly <paramref name="length"/> bytes in one run of memory, contents unspecified.</summary>
    public abstract IMemoryOwner<byte> Allocate(int length);

    /// <summary>Like <see cref="Allocate"/>, but if memory is limited it waits asynchronously.</summary>
    public virtual ValueTask<IMemoryOwner<byte>> AllocateAsync(int length) => new(Allocate(length));

    /// <summary>Returns how much memory an allocation of <paramref name="length"/> bytes takes at most.</summary>
    public virtual long Estimate(long length) => length;

    /// <summary>Announces memory that a library is about to take from malloc, until the result is disposed.</summary>
    public virtual IDisposable? CountExternal(long bytes) => null;

    /// <summary>
    /// Waits until a job that takes at most <paramref name="bytes"/> may begin, and returns the store that it allocates from. Only stores
    /// with a budget wait; they reserve all of a job's memory at once, so that no two jobs hold half of what they need and wait for each
    /// other.
    /// </summary>
    public virtual ValueTask<Admission> AdmitAsync(long bytes, CancellationToken cancellationToken) => new(new Admission(this));

    /// <summary>Returns idle memory to the system, if the strategy can: for arrays and malloc there is no call.</summary>
    public virtual void Release()
    {
    }

    public virtual void Dispose()
    {
    }
}

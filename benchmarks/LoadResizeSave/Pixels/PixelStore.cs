namespace LoadResizeSave.Pixels;

/// <summary>Names the ways of getting memory that the program compares.</summary>
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

/// <summary>What the kinds are called.</summary>
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

/// <summary>A job that may begin. Disposed when the job is done, it lets others in.</summary>
/// <param name="store">The store that lends to it.</param>
/// <param name="reservation">What was set aside for the job.</param>
internal sealed class Admission(PixelStore store, IDisposable? reservation = null) : IDisposable
{
    public PixelStore Store => store;

    public void Dispose() => reservation?.Dispose();
}

/// <summary>
/// Lends all memory that the job uses: files, pictures and scratch rows. Only this differs between two measured runs, so what the table
/// shows is the allocators' doing.
/// </summary>
internal abstract class PixelStore : IDisposable
{
    /// <summary>Gets what the allocator holds of the operating system's memory at this moment, in bytes.</summary>
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

    /// <summary>Lends a picture. Where <paramref name="contiguous"/>, <see cref="Raster{TPixel}.TryProcessPixels"/> succeeds.</summary>
    public abstract Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
        where TPixel : unmanaged;

    /// <summary>Lends memory of exactly <paramref name="length"/> elements, contents unspecified.</summary>
    public abstract IMemoryOwner<T> Allocate<T>(int length)
        where T : unmanaged;

    /// <summary>As <see cref="Allocate"/>, but where memory is limited it waits, without a thread, until there is some.</summary>
    public virtual ValueTask<IMemoryOwner<T>> AllocateAsync<T>(int length)
        where T : unmanaged
        => new(Allocate<T>(length));

    public virtual long Estimate<T>(int length)
        where T : unmanaged
        => (long)length * Unsafe.SizeOf<T>();

    /// <summary>Returns how much memory a picture takes at most, in one run or not.</summary>
    public virtual long EstimatePixels<TPixel>(int width, int height)
        where TPixel : unmanaged
        => (long)width * height * Unsafe.SizeOf<TPixel>();

    /// <summary>Says that a library is about to take so much memory of its own, until the result is disposed.</summary>
    public virtual IDisposable? CountExternal(long bytes) => null;

    /// <summary>Makes functions for a library to allocate by; null where it is left to malloc.</summary>
    public virtual NativeAllocationCallbacks? CreateNativeCallbacks() => null;

    /// <summary>
    /// Waits until a job that takes <paramref name="bytes"/> at most may begin, and gives the store that lends to it. Only a store with a
    /// budget ever waits; it takes all of a job's memory out of it at once, so that no two jobs hold half of what they need and wait for
    /// each other.
    /// </summary>
    public virtual ValueTask<Admission> AdmitAsync(long bytes, CancellationToken cancellationToken) => new(new Admission(this));

    /// <summary>Returns idle memory to the system, as far as there is a way to do so: for arrays and malloc there is none.</summary>
    public virtual void Release()
    {
    }

    public virtual void Dispose()
    {
    }
}

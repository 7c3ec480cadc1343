using System;
using System.Buffers;
using Allocator;

namespace LoadResizeSave.Pixels;

/// <summary>
/// Lends all memory that the job uses: files, pictures and scratch rows. Only this differs between two measured runs,
/// so what the table shows is the allocators' doing.
/// </summary>
internal abstract class PixelStore : IDisposable
{
    /// <summary>Gets what the allocator holds of the operating system's memory at this moment, in bytes.</summary>
    public abstract long CommittedBytes { get; }

    /// <summary>Gets the library's own counters; null for arrays.</summary>
    public virtual MemoryAllocatorStatistics? Statistics => null;

    /// <summary>Makes the store that <paramref name="kind"/> names. <paramref name="trimPeriod"/> matters to the pool alone.</summary>
    public static PixelStore Create(AllocatorKind kind, TimeSpan trimPeriod) => kind switch
    {
        AllocatorKind.Pool => new BlockStore(new MemoryAllocatorOptions { Name = "pool", TrimPeriod = trimPeriod }),
        AllocatorKind.Unpooled => new BlockStore(new MemoryAllocatorOptions { Name = "unpooled", MaximumPoolSizeMegabytes = 0, TrimPeriod = trimPeriod }),
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

    /// <summary>Gives back whatever lies idle, as far as the allocator has a way to do so.</summary>
    public abstract void Release();

    /// <inheritdoc/>
    public abstract void Dispose();
}

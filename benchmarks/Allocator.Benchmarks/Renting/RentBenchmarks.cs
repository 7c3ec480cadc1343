namespace Allocator.Benchmarks.Renting;

/// <summary>
/// Rents and returns a buffer in every way there is. The buffers are not touched: these are the costs of the bookkeeping alone. What the
/// memory costs that comes with it, <see cref="Residency.TouchedImageBenchmarks"/> show.
/// </summary>
public abstract class RentBenchmarks : PoolBenchmarks
{
    /// <summary>Gets the size of the buffer, in bytes.</summary>
    protected abstract int Length { get; }

    [Benchmark(Description = "Allocate")]
    public void Allocate() => Use(Pool.Allocate<byte>(Length));

    [Benchmark(Description = "Rent (lease)")]
    public void Lease()
    {
        using MemoryLease<byte> lease = Pool.Rent<byte>(Length);
        Work(lease.Length);
    }

    [Benchmark(Description = "MemoryPool")]
    public void MemoryPool() => Use(MemoryPool<byte>.Shared.Rent(Length));

    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner() => Use(MemoryOwner<byte>.Allocate(Length));

    [Benchmark(Description = "NativeMemory")]
    public void Heap() => UseHeap(Length);
}

/// <summary>
/// Rents and returns what is small enough for an array of the shared pool. A new array clears its memory, which is part of its price.
/// </summary>
public class SmallBufferBenchmarks : RentBenchmarks
{
    [Params(64, 1024)]
    public int SizeInKilobytes { get; set; }

    protected override int Length => SizeInKilobytes << 10;

    [Benchmark(Baseline = true, Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length);

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => new byte[Length];

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => GC.AllocateUninitializedArray<byte>(Length);
}

/// <summary>Rents and returns what one block of the pool holds.</summary>
public class BlockBenchmarks : RentBenchmarks
{
    [Params(2, 4)]
    public int SizeInMegabytes { get; set; }

    protected override int Length => SizeInMegabytes << 20;

    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic() => Use(ClassicAllocator.Allocate<byte>(Length));

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length);

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => new byte[Length];

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => GC.AllocateUninitializedArray<byte>(Length);
}

/// <summary>Rents and returns 14 MB in one piece, four blocks of the pool that lie beside each other.</summary>
public class ContiguousBenchmarks : RentBenchmarks
{
    private const int Width = 2048;
    private const int Height = 1792;

    protected override int Length => Width * Height * sizeof(int);

    /// <summary>The model: what exceeds a block comes from the heap, with a finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic() => Use(ClassicAllocator.Allocate<byte>(Length));

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = Pool.AllocatePixels<int>(Width, Height, AllocationOptions.Contiguous);
        Work(pixels);
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length);
}

/// <summary>Rents and returns 64 MB, in 16 blocks of the pool or in one piece.</summary>
public class GroupBenchmarks : PoolBenchmarks
{
    private const int Width = 4096;
    private const int Height = 4096;
    private const int Length = Width * Height * sizeof(int);

    [Benchmark(Baseline = true, Description = "classic, 16 blocks")]
    public void Classic()
    {
        using ClassicGroup<int> group = ClassicAllocator.AllocateRows<int>(Width, Height);
        Work(group);
    }

    [Benchmark(Description = "AllocatePixels, 16 blocks")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = Pool.AllocatePixels<int>(Width, Height);
        Work(pixels);
    }

    [Benchmark(Description = "AllocateGroup, 16 blocks")]
    public void Group()
    {
        using MemoryGroup<int> group = Pool.AllocateGroup<int>(Width * Height, Width);
        Work(group);
    }

    [Benchmark(Description = "AllocateGroup, each member indexed")]
    public int IndexedGroup()
    {
        using MemoryGroup<int> group = Pool.AllocateGroup<int>(Width * Height, Width);
        Work(group);
        int length = 0;
        for (int i = 0; i < group.Count; i++)
        {
            length += group[i].Length;
        }

        return length;
    }

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void ContiguousPixels()
    {
        using PixelBuffer<int> pixels = Pool.AllocatePixels<int>(Width, Height, AllocationOptions.Contiguous);
        Work(pixels);
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length);

    [Benchmark(Description = "NativeMemory")]
    public void Heap() => UseHeap(Length);
}

namespace Allocator.Benchmarks.Renting;

/// <summary>
/// Rents and returns a buffer in every way there is: from the pool alone, under a budget that is not reached, and from a reservation. The
/// buffers are not touched: these are the costs of the bookkeeping alone.
/// </summary>
public class RentBenchmarks : PoolBenchmarks
{
    private const string Owner = "owner";
    private const string Leased = "lease";

    private MemoryAllocator _limited = null!;
    private MemoryReservation _reservation = null!;

    [Params(64, 1024, 4096)]
    public int SizeInKilobytes { get; set; }

    private int Length => SizeInKilobytes << 10;

    private protected override void OnSetUp()
    {
        _limited = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = PoolMegabytes });
        _reservation = _limited.TryReserve(64 << 20, out MemoryReservation? reservation)
            ? reservation
            : throw new InvalidOperationException("Nothing was reserved.");
    }

    private protected override void OnCleanUp()
    {
        _reservation.Dispose();
        _limited.Dispose();
    }

    [BenchmarkCategory(Owner)]
    [Benchmark(Baseline = true, Description = "owner: MemoryPool")]
    public void MemoryPool() => Use(MemoryPool<byte>.Shared.Rent(Length));

    [BenchmarkCategory(Owner)]
    [Benchmark(Description = "owner")]
    public void Allocate() => Use(Pool.Allocate<byte>(Length));

    [BenchmarkCategory(Owner)]
    [Benchmark(Description = "owner, budget")]
    public void AllocateLimited() => Use(_limited.Allocate<byte>(Length));

    [BenchmarkCategory(Owner)]
    [Benchmark(Description = "owner, reservation")]
    public void AllocateReserved() => Use(_reservation.Allocate<byte>(Length));

    [BenchmarkCategory(Owner)]
    [Benchmark(Description = "owner: classic")]
    public void Classic() => Use(ClassicAllocator.Allocate<byte>(Length));

    [BenchmarkCategory(Leased)]
    [Benchmark(Baseline = true, Description = "lease: ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length);

    [BenchmarkCategory(Leased)]
    [Benchmark(Description = "lease")]
    public void Lease()
    {
        using MemoryLease<byte> lease = Pool.Rent<byte>(Length);
        Work(lease.Length);
    }

    [BenchmarkCategory(Leased)]
    [Benchmark(Description = "lease, budget")]
    public void LeaseLimited()
    {
        using MemoryLease<byte> lease = _limited.Rent<byte>(Length);
        Work(lease.Length);
    }

    [BenchmarkCategory(Leased)]
    [Benchmark(Description = "lease, reservation")]
    public void LeaseReserved()
    {
        using MemoryLease<byte> lease = _reservation.Rent<byte>(Length);
        Work(lease.Length);
    }
}

/// <summary>Rents and returns small memory with an alignment, for which arrays do not serve.</summary>
public class AlignedBenchmarks : PoolBenchmarks
{
    public static IEnumerable<object[]> Sizes => [[1 << 10, 64], [64 << 10, 64], [64 << 10, 4096], [512 << 10, 4096]];

    [Benchmark(Baseline = true, Description = "AlignedAlloc")]
    [ArgumentsSource(nameof(Sizes))]
    public unsafe void Heap(int bytes, int alignment)
    {
        void* memory = NativeMemory.AlignedAlloc((nuint)bytes, (nuint)alignment);
        Work((nint)memory);
        NativeMemory.AlignedFree(memory);
    }

    [Benchmark(Description = "AllocateAligned")]
    [ArgumentsSource(nameof(Sizes))]
    public void Aligned(int bytes, int alignment) => Use(Pool.AllocateAligned<byte>(bytes, alignment));
}

/// <summary>Rents and returns a pixel buffer of 64 MB, in 16 blocks or in one piece, and twice as many blocks.</summary>
public class ImageBenchmarks : PoolBenchmarks
{
    private const int Side = 4096;

    [Benchmark(Baseline = true, Description = "classic, 16 blocks")]
    public void Classic()
    {
        using ClassicGroup<int> group = ClassicAllocator.AllocateRows<int>(Side, Side);
        Work(group);
    }

    [Benchmark(Description = "AllocatePixels, 16 blocks")]
    public void Pixels() => Use(Side, AllocationOptions.None);

    [Benchmark(Description = "AllocatePixels, 32 blocks")]
    public void MorePixels() => Use(2 * Side, AllocationOptions.None);

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void ContiguousPixels() => Use(Side, AllocationOptions.Contiguous);

    [Benchmark(Description = "AllocateGroup, 16 blocks")]
    public void Group()
    {
        using MemoryGroup<int> group = Pool.AllocateGroup<int>(Side * Side, Side);
        Work(group);
    }

    private void Use(int height, AllocationOptions options)
    {
        using PixelBuffer<int> pixels = Pool.AllocatePixels<int>(Side, height, options);
        Work(pixels);
    }
}

/// <summary>Makes an allocator and disposes it, beside one that is there already.</summary>
public class CreationBenchmarks : PoolBenchmarks
{
    [Benchmark(Description = "Create, Dispose")]
    public void Create() => MemoryAllocator.Create().Dispose();
}

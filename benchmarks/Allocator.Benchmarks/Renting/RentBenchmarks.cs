namespace Allocator.Benchmarks.Renting;

/// <summary>
/// Rents and returns a buffer in every way there is. The buffers are not touched: these are the costs of the bookkeeping alone. What the
/// memory costs that comes with it, <see cref="Residency.TouchedImageBenchmarks"/> tell.
/// </summary>
[MemoryDiagnoser]
public abstract class RentBenchmarks
{
    private MemoryAllocator? _allocator;
    private ClassicAllocator? _classic;

    /// <summary>Gets the size of the buffer, in bytes.</summary>
    protected abstract int Length { get; }

    private protected MemoryAllocator Allocator => _allocator!;

    private protected ClassicAllocator ClassicAllocator => _classic!;

    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _classic = new ClassicAllocator(capacity: 256);
    }

    [GlobalCleanup]
    public void CleanUp()
    {
        _allocator!.Dispose();
        _classic!.Release();
    }

    [Benchmark(Description = "Allocate")]
    public void Allocate() => Use(_allocator!.Allocate<byte>(Length));

    [Benchmark(Description = "Rent (lease)")]
    public void Lease()
    {
        using MemoryLease<byte> lease = _allocator!.Rent<byte>(Length);
        Work.On(lease.Length);
    }

    [Benchmark(Description = "MemoryPool")]
    public void MemoryPool() => Use(MemoryPool<byte>.Shared.Rent(Length));

    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner() => Use(MemoryOwner<byte>.Allocate(Length));

    [Benchmark(Description = "NativeMemory")]
    public unsafe void Heap()
    {
        void* memory = NativeMemory.Alloc((nuint)Length);
        Work.On((nint)memory);
        NativeMemory.Free(memory);
    }

    /// <summary>Rents from the shared array pool, which some of these benchmarks compare all others with.</summary>
    protected void UseArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Length);
        Work.On(array);
        ArrayPool<byte>.Shared.Return(array);
    }

    /// <summary>Stands for the code that the owner is for.</summary>
    protected static void Use(IMemoryOwner<byte> owner)
    {
        using (owner)
        {
            Work.On(owner);
        }
    }
}

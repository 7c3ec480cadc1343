namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns what one block of the pool holds. A new array clears its memory, which is part of its price.</summary>
public class BlockBenchmarks : RentBenchmarks
{
    [Params(2, 4)]
    public int SizeInMegabytes { get; set; }

    /// <inheritdoc/>
    protected override int Length => SizeInMegabytes << 20;

    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic() => Use(ClassicAllocator.Allocate<byte>(Length));

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool();

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => new byte[Length];

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => GC.AllocateUninitializedArray<byte>(Length);
}

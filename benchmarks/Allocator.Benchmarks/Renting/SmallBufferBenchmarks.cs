namespace Allocator.Benchmarks.Renting;

/// <summary>
/// Rents and returns what is small enough for an array of the shared pool. A new array clears its memory, which is part of its price.
/// </summary>
public class SmallBufferBenchmarks : RentBenchmarks
{
    [Params(64, 1024)]
    public int SizeInKilobytes { get; set; }

    /// <inheritdoc/>
    protected override int Length => SizeInKilobytes << 10;

    [Benchmark(Baseline = true, Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool();

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => new byte[Length];

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => GC.AllocateUninitializedArray<byte>(Length);
}

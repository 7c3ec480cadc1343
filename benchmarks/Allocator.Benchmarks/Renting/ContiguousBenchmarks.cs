namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns 14 MB in one piece, four blocks of the pool that lie beside each other.</summary>
public class ContiguousBenchmarks : RentBenchmarks
{
    private const int Width = 2048;
    private const int Height = 1792;

    /// <inheritdoc/>
    protected override int Length => Width * Height * sizeof(int);

    /// <summary>The model: what exceeds a block comes from the heap, with a finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic() => Use(ClassicAllocator.Allocate<byte>(Length));

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = Allocator.AllocatePixels<int>(Width, Height, AllocationOptions.Contiguous);
        Work.On(pixels);
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool();
}

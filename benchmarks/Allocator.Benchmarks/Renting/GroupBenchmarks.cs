namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns 64 MB, in 16 blocks of the pool or in one piece.</summary>
[MemoryDiagnoser]
public class GroupBenchmarks
{
    private const int Width = 4096;
    private const int Height = 4096;
    private const int Length = Width * Height * sizeof(int);

    private MemoryAllocator? _allocator;
    private ClassicAllocator? _classic;

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

    [Benchmark(Baseline = true, Description = "classic, 16 blocks")]
    public void Classic()
    {
        using ClassicGroup<int> group = _classic!.AllocateRows<int>(Width, Height);
        Work.On(group);
    }

    [Benchmark(Description = "AllocatePixels, 16 blocks")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, Height);
        Work.On(pixels);
    }

    [Benchmark(Description = "AllocateGroup, 16 blocks")]
    public void Group()
    {
        using MemoryGroup<int> group = _allocator!.AllocateGroup<int>(Width * Height, Width);
        Work.On(group);
    }

    [Benchmark(Description = "AllocateGroup, each member indexed")]
    public int IndexedGroup()
    {
        using MemoryGroup<int> group = _allocator!.AllocateGroup<int>(Width * Height, Width);
        Work.On(group);
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
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, Height, AllocationOptions.Contiguous);
        Work.On(pixels);
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Length);
        Work.On(array);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Benchmark(Description = "NativeMemory")]
    public unsafe void Heap()
    {
        void* memory = NativeMemory.Alloc(Length);
        Work.On((nint)memory);
        NativeMemory.Free(memory);
    }
}

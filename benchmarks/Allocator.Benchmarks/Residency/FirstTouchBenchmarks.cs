namespace Allocator.Benchmarks.Residency;

/// <summary>
/// Allocates fresh memory, touches each page, and frees it; memory is fresh only once, so all three are timed. The allocator retains
/// nothing here. The heap recycles what is freed below 32 MB and is told not to (M_MMAP_THRESHOLD, in the GNU C library); the collector's
/// arrays are only in part fresh.
/// </summary>
[MemoryDiagnoser]
public class FirstTouchBenchmarks
{
    private MemoryAllocator? _hugePages;
    private MemoryAllocator? _smallPages;
    private int _length;

    [Params(4, 32, 128)]
    public int SizeInMegabytes { get; set; }

    [GlobalSetup]
    public void SetUp()
    {
        FreshHeap.Require();
        _hugePages = MeasuredPool.CreateUnpooled(HugePages.Auto);
        _smallPages = MeasuredPool.CreateUnpooled(HugePages.Off);
        _length = SizeInMegabytes << 20;
    }

    [GlobalCleanup]
    public void CleanUp()
    {
        _hugePages!.Dispose();
        _smallPages!.Dispose();
    }

    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public unsafe void HGlobal()
    {
        nint memory = Marshal.AllocHGlobal(_length);
        PageTouch.Write(new Span<byte>((void*)memory, _length));
        Marshal.FreeHGlobal(memory);
    }

    [Benchmark(Description = "Allocate, huge pages")]
    public void HugePageMemory() => AllocateAndTouch(_hugePages!);

    [Benchmark(Description = "Allocate, HugePages.Off")]
    public void SmallPageMemory() => AllocateAndTouch(_smallPages!);

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => Touched(new byte[_length]);

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => Touched(GC.AllocateUninitializedArray<byte>(_length));

    private static byte[] Touched(byte[] array)
    {
        PageTouch.Write(array);
        return array;
    }

    private void AllocateAndTouch(MemoryAllocator allocator)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(_length);
        Work.On(owner);
        PageTouch.Write(owner.Memory.Span);
    }
}

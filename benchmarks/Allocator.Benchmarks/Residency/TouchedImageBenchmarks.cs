namespace Allocator.Benchmarks.Residency;

/// <summary>Allocates an image in one piece, touches each page and frees it, again and again: the memory behind the bookkeeping.</summary>
[MemoryDiagnoser]
public class TouchedImageBenchmarks
{
    private const int Width = 2048;

    private MemoryAllocator? _allocator;
    private int _height;
    private int _length;

    [Params(14, 64)]
    public int SizeInMegabytes { get; set; }

    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _length = SizeInMegabytes << 20;
        _height = _length / sizeof(int) / Width;
    }

    [GlobalCleanup]
    public void CleanUp() => _allocator!.Dispose();

    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public unsafe void HGlobal()
    {
        nint memory = Marshal.AllocHGlobal(_length);
        PageTouch.Write(new Span<byte>((void*)memory, _length));
        Marshal.FreeHGlobal(memory);
    }

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, _height, AllocationOptions.Contiguous);
        Work.On(pixels);
        if (!pixels.TryProcessSinglePixelSpan(static span => PageTouch.Write(MemoryMarshal.AsBytes(span))))
        {
            throw new InvalidOperationException("The image is not in one piece.");
        }
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(_length);
        PageTouch.Write(array.AsSpan(0, _length));
        ArrayPool<byte>.Shared.Return(array);
    }

    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(_length);
        Work.On(owner);
        PageTouch.Write(owner.Span);
    }

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray()
    {
        byte[] array = new byte[_length];
        PageTouch.Write(array);
        return array;
    }

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray()
    {
        byte[] array = GC.AllocateUninitializedArray<byte>(_length);
        PageTouch.Write(array);
        return array;
    }
}

namespace Allocator.Benchmarks.Residency;

/// <summary>Allocates an image in one piece, touches each page and frees it, again and again: the memory behind the bookkeeping.</summary>
public class TouchedImageBenchmarks : PoolBenchmarks
{
    private const int Width = 2048;

    [Params(14, 64)]
    public int SizeInMegabytes { get; set; }

    private int Length => SizeInMegabytes << 20;

    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public void HGlobal() => TouchHGlobal(Length);

    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        int height = Length / sizeof(int) / Width;
        using PixelBuffer<int> pixels = Pool.AllocatePixels<int>(Width, height, AllocationOptions.Contiguous);
        Work(pixels);
        if (!pixels.TryProcessSinglePixelSpan(static span => PageTouch.Write(MemoryMarshal.AsBytes(span))))
        {
            throw new InvalidOperationException("The image is not in one piece.");
        }
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length, touch: true);

    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner() => Touch(MemoryOwner<byte>.Allocate(Length));

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => Touched(new byte[Length]);

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => Touched(GC.AllocateUninitializedArray<byte>(Length));
}

/// <summary>
/// Gets zeroed memory of which one byte a page is then written: calloc may hand out memory that is zeroed only when it is touched, and
/// that is to be paid here. The pool's memory was written to in the round before, so Clean has to clear all of it, once.
/// </summary>
public class CleanBenchmarks : PoolBenchmarks
{
    [Params(1, 4, 32)]
    public int SizeInMegabytes { get; set; }

    private int Length => SizeInMegabytes << 20;

    /// <summary>What a caller would write without <see cref="AllocationOptions.Clean"/>.</summary>
    [Benchmark(Baseline = true, Description = "Allocate, then Span.Clear")]
    public void AllocateThenClear()
    {
        using IMemoryOwner<byte> owner = Pool.Allocate<byte>(Length);
        Work(owner);
        Span<byte> span = owner.Memory.Span;
        span.Clear();
        PageTouch.Write(span);
    }

    [Benchmark(Description = "Allocate with Clean")]
    public void AllocateClean() => Touch(Pool.Allocate<byte>(Length, AllocationOptions.Clean));

    [Benchmark(Description = "ArrayPool, then Span.Clear")]
    public void ArrayPoolThenClear()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Length);
        Span<byte> span = array.AsSpan(0, Length);
        span.Clear();
        PageTouch.Write(span);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Benchmark(Description = "MemoryOwner, AllocationMode.Clear")]
    public void ToolkitOwnerCleared() => Touch(MemoryOwner<byte>.Allocate(Length, AllocationMode.Clear));

    [Benchmark(Description = "NativeMemory.AllocZeroed")]
    public unsafe void HeapZeroed()
    {
        void* memory = NativeMemory.AllocZeroed((nuint)Length);
        PageTouch.Write(new Span<byte>(memory, Length));
        NativeMemory.Free(memory);
    }

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => Touched(new byte[Length]);
}

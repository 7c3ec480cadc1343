namespace Allocator.Benchmarks.Clearing;

/// <summary>
/// Gets zeroed memory of which one byte a page is then written: calloc may hand out memory that is zeroed only when it is touched, and
/// that is to be paid here. The pool's memory was written to in the round before, so Clean has to clear all of it, once.
/// </summary>
[MemoryDiagnoser]
public class CleanBenchmarks
{
    private MemoryAllocator? _allocator;
    private int _length;

    [Params(1, 4, 32)]
    public int SizeInMegabytes { get; set; }

    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _length = SizeInMegabytes << 20;
    }

    [GlobalCleanup]
    public void CleanUp() => _allocator!.Dispose();

    /// <summary>What a caller would write who does not know of <see cref="AllocationOptions.Clean"/>.</summary>
    [Benchmark(Baseline = true, Description = "Allocate, then Span.Clear")]
    public void AllocateThenClear()
    {
        using IMemoryOwner<byte> owner = _allocator!.Allocate<byte>(_length);
        Work.On(owner);
        Span<byte> span = owner.Memory.Span;
        span.Clear();
        PageTouch.Write(span);
    }

    [Benchmark(Description = "Allocate with Clean")]
    public void AllocateClean()
    {
        using IMemoryOwner<byte> owner = _allocator!.Allocate<byte>(_length, AllocationOptions.Clean);
        Work.On(owner);
        PageTouch.Write(owner.Memory.Span);
    }

    [Benchmark(Description = "ArrayPool, then Span.Clear")]
    public void ArrayPoolThenClear()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(_length);
        Span<byte> span = array.AsSpan(0, _length);
        span.Clear();
        PageTouch.Write(span);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Benchmark(Description = "MemoryOwner, AllocationMode.Clear")]
    public void ToolkitOwnerCleared()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(_length, AllocationMode.Clear);
        Work.On(owner);
        PageTouch.Write(owner.Span);
    }

    [Benchmark(Description = "NativeMemory.AllocZeroed")]
    public unsafe void HeapZeroed()
    {
        void* memory = NativeMemory.AllocZeroed((nuint)_length);
        PageTouch.Write(new Span<byte>(memory, _length));
        NativeMemory.Free(memory);
    }

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray()
    {
        byte[] array = new byte[_length];
        PageTouch.Write(array);
        return array;
    }
}

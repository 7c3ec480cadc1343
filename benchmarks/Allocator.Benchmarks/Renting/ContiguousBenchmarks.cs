using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using CommunityToolkit.HighPerformance.Buffers;
using Measuring.Classic;

namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns 14 MB in one piece, four blocks of the pool that lie beside each other.</summary>
[MemoryDiagnoser]
[ReportTitle("Rent and return of 14 MB in one piece")]
[ReportNote("Nobody touches the buffers: these are the costs of the bookkeeping alone. What the memory costs that comes with it, TouchedImageBenchmarks tell.")]
[AlsoComparedWith(nameof(ArrayPool))]
public class ContiguousBenchmarks
{
    private const int Width = 2048;
    private const int Height = 1792;
    private const int Length = Width * Height * sizeof(int);

    private MemoryAllocator? _allocator;
    private ClassicAllocator? _classic;

    /// <summary>Makes the allocators.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _classic = new ClassicAllocator(capacity: 256);
    }

    /// <summary>Frees what the allocators hold.</summary>
    [GlobalCleanup]
    public void CleanUp()
    {
        _allocator!.Dispose();
        _classic!.Release();
    }

    /// <summary>The model: what exceeds a block comes from the heap, with a finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic()
    {
        using IMemoryOwner<byte> owner = _classic!.Allocate<byte>(Length);
        Work.On(owner);
    }

    /// <summary>This library's owner.</summary>
    [Benchmark(Description = "Allocate")]
    public void Allocate()
    {
        using IMemoryOwner<byte> owner = _allocator!.Allocate<byte>(Length);
        Work.On(owner);
    }

    /// <summary>This library's lease.</summary>
    [Benchmark(Description = "Rent (lease)")]
    public void Lease()
    {
        using MemoryLease<byte> lease = _allocator!.Rent<byte>(Length);
        Work.On(lease.Length);
    }

    /// <summary>This library's pixel buffer, in one piece.</summary>
    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, Height, AllocationOptions.Contiguous);
        Work.On(pixels);
    }

    /// <summary>A bare array.</summary>
    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Length);
        Work.On(array);
        ArrayPool<byte>.Shared.Return(array);
    }

    /// <summary>The base library's owner of an array.</summary>
    [Benchmark(Description = "MemoryPool")]
    public void MemoryPool()
    {
        using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(Length);
        Work.On(owner);
    }

    /// <summary>The toolkit's owner of an array.</summary>
    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(Length);
        Work.On(owner);
    }

    /// <summary>The heap of the C library.</summary>
    [Benchmark(Description = "NativeMemory")]
    public unsafe void Heap()
    {
        void* memory = NativeMemory.Alloc(Length);
        Work.On((nint)memory);
        NativeMemory.Free(memory);
    }
}

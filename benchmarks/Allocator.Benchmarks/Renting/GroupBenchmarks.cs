using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using Measuring.Classic;

namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns 64 MB, in 16 blocks of the pool or in one piece.</summary>
[MemoryDiagnoser]
[ReportTitle("Rent and return of 64 MB")]
[ReportNote("Nobody touches the buffers: these are the costs of the bookkeeping alone.")]
[ReportNote("The model makes an owner for each of its 16 blocks at once; here an object a block is made when a member is first indexed.")]
[AlsoComparedWith(nameof(ArrayPool))]
public class GroupBenchmarks
{
    private const int Width = 4096;
    private const int Height = 4096;
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

    /// <summary>The model: an owner a block, and one finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic, 16 blocks")]
    public void Classic()
    {
        using ClassicGroup<int> group = _classic!.AllocateRows<int>(Width, Height);
        Work.On(group);
    }

    /// <summary>This library's pixel buffer.</summary>
    [Benchmark(Description = "AllocatePixels, 16 blocks")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, Height);
        Work.On(pixels);
    }

    /// <summary>This library's group.</summary>
    [Benchmark(Description = "AllocateGroup, 16 blocks")]
    public void Group()
    {
        using MemoryGroup<int> group = _allocator!.AllocateGroup<int>(Width * Height, Width);
        Work.On(group);
    }

    /// <summary>This library's group, every member of which is looked at.</summary>
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

    /// <summary>This library's pixel buffer, in one piece.</summary>
    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void ContiguousPixels()
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

    /// <summary>The heap of the C library.</summary>
    [Benchmark(Description = "NativeMemory")]
    public unsafe void Heap()
    {
        void* memory = NativeMemory.Alloc(Length);
        Work.On((nint)memory);
        NativeMemory.Free(memory);
    }
}

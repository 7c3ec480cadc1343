using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using Allocator.Benchmarks.Residency;
using BenchmarkDotNet.Attributes;
using CommunityToolkit.HighPerformance.Buffers;

namespace Allocator.Benchmarks.Clearing;

/// <summary>Gets zeroed memory that is then written to.</summary>
[MemoryDiagnoser]
[ReportTitle("Zeroed memory")]
[ReportNote("One byte a page is written afterwards, in every row: calloc may hand out memory that is zeroed only when it is touched, and that is to be paid here.")]
[ReportNote("The pool's memory is warm: it was written to in the round before, so Clean has to clear all of it, once.")]
[ReportNote("1 MB is an array of the shared pool, 4 MB a block, 32 MB a run of eight blocks.")]
[ChartOver(nameof(SizeInMegabytes), "size in MB")]
public class CleanBenchmarks
{
    private MemoryAllocator? _allocator;
    private int _length;

    /// <summary>Gets or sets the size of the buffer, in units of 1024 × 1024 bytes.</summary>
    [Params(1, 4, 32)]
    public int SizeInMegabytes { get; set; }

    /// <summary>Makes the allocator.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _length = SizeInMegabytes << 20;
    }

    /// <summary>Disposes the allocator.</summary>
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
        Pages.Touch(span);
    }

    /// <summary>This library's zeroed memory.</summary>
    [Benchmark(Description = "Allocate with Clean")]
    public void AllocateClean()
    {
        using IMemoryOwner<byte> owner = _allocator!.Allocate<byte>(_length, AllocationOptions.Clean);
        Work.On(owner);
        Pages.Touch(owner.Memory.Span);
    }

    /// <summary>A bare array, cleared.</summary>
    [Benchmark(Description = "ArrayPool, then Span.Clear")]
    public void ArrayPoolThenClear()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(_length);
        Span<byte> span = array.AsSpan(0, _length);
        span.Clear();
        Pages.Touch(span);
        ArrayPool<byte>.Shared.Return(array);
    }

    /// <summary>The toolkit's owner of an array, cleared.</summary>
    [Benchmark(Description = "MemoryOwner, AllocationMode.Clear")]
    public void ToolkitOwnerCleared()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(_length, AllocationMode.Clear);
        Work.On(owner);
        Pages.Touch(owner.Span);
    }

    /// <summary>The zeroed memory of the C library.</summary>
    [Benchmark(Description = "NativeMemory.AllocZeroed")]
    public unsafe void HeapZeroed()
    {
        void* memory = NativeMemory.AllocZeroed((nuint)_length);
        Pages.Touch(new Span<byte>(memory, _length));
        NativeMemory.Free(memory);
    }

    /// <summary>A new array.</summary>
    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray()
    {
        byte[] array = new byte[_length];
        Pages.Touch(array);
        return array;
    }
}

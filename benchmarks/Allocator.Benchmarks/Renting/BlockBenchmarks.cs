using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using CommunityToolkit.HighPerformance.Buffers;
using Measuring.Classic;

namespace Allocator.Benchmarks.Renting;

/// <summary>Rents and returns what one block of the pool holds.</summary>
[MemoryDiagnoser]
[ReportTitle("Rent and return of 2 and 4 MB")]
[ReportNote("Nobody touches the buffers, except that new byte[] clears its own: that is part of its price.")]
[AlsoComparedWith(nameof(MemoryPool))]
[AlsoComparedWith(nameof(ArrayPool))]
public class BlockBenchmarks
{
    private MemoryAllocator? _allocator;
    private ClassicAllocator? _classic;
    private int _length;

    /// <summary>Gets or sets the size of the buffer, in units of 1024 × 1024 bytes.</summary>
    [Params(2, 4)]
    public int SizeInMegabytes { get; set; }

    /// <summary>Makes the allocators.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _classic = new ClassicAllocator(capacity: 256);
        _length = SizeInMegabytes << 20;
    }

    /// <summary>Frees what the allocators hold.</summary>
    [GlobalCleanup]
    public void CleanUp()
    {
        _allocator!.Dispose();
        _classic!.Release();
    }

    /// <summary>The model: a lock and a finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic")]
    public void Classic()
    {
        using IMemoryOwner<byte> owner = _classic!.Allocate<byte>(_length);
        Work.On(owner);
    }

    /// <summary>This library's owner.</summary>
    [Benchmark(Description = "Allocate")]
    public void Allocate()
    {
        using IMemoryOwner<byte> owner = _allocator!.Allocate<byte>(_length);
        Work.On(owner);
    }

    /// <summary>This library's lease.</summary>
    [Benchmark(Description = "Rent (lease)")]
    public void Lease()
    {
        using MemoryLease<byte> lease = _allocator!.Rent<byte>(_length);
        Work.On(lease.Length);
    }

    /// <summary>A bare array.</summary>
    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(_length);
        Work.On(array);
        ArrayPool<byte>.Shared.Return(array);
    }

    /// <summary>The base library's owner of an array.</summary>
    [Benchmark(Description = "MemoryPool")]
    public void MemoryPool()
    {
        using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(_length);
        Work.On(owner);
    }

    /// <summary>The toolkit's owner of an array.</summary>
    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(_length);
        Work.On(owner);
    }

    /// <summary>The heap of the C library.</summary>
    [Benchmark(Description = "NativeMemory")]
    public unsafe void Heap()
    {
        void* memory = NativeMemory.Alloc((nuint)_length);
        Work.On((nint)memory);
        NativeMemory.Free(memory);
    }

    /// <summary>A new array.</summary>
    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => new byte[_length];

    /// <summary>A new array that is not cleared where the collector has memory to hand.</summary>
    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => GC.AllocateUninitializedArray<byte>(_length);
}

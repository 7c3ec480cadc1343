using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;

namespace Allocator.Benchmarks.Residency;

/// <summary>Allocates memory that nobody has touched yet, touches each page, and frees it.</summary>
[MemoryDiagnoser]
[ReportTitle("First touch of fresh memory")]
[ReportNote("Allocate, write one byte a page, free: memory is fresh only once, so all three are timed; the touches are nearly all of it. The allocator retains nothing here.")]
[ReportNote("The heap recycles what is freed below 32 MB. It is told not to (M_MMAP_THRESHOLD, in the GNU C library), or its 4 MB would not be fresh; elsewhere they may not be.")]
[ReportNote("The collector keeps some memory between collections, so its arrays are only in part fresh; new byte[] clears them, which touches every page already.")]
[ChartOver(nameof(SizeInMegabytes), "size in MB")]
public class FirstTouchBenchmarks
{
    private MemoryAllocator? _hugePages;
    private MemoryAllocator? _smallPages;
    private int _length;

    /// <summary>Gets or sets the size of the buffer, in units of 1024 × 1024 bytes.</summary>
    [Params(4, 32, 128)]
    public int SizeInMegabytes { get; set; }

    /// <summary>Makes the allocators.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        FreshHeap.Require();
        _hugePages = MeasuredPool.CreateUnpooled(HugePages.Auto);
        _smallPages = MeasuredPool.CreateUnpooled(HugePages.Off);
        _length = SizeInMegabytes << 20;
    }

    /// <summary>Disposes the allocators.</summary>
    [GlobalCleanup]
    public void CleanUp()
    {
        _hugePages!.Dispose();
        _smallPages!.Dispose();
    }

    /// <summary>The heap that classic designs take large memory from.</summary>
    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public unsafe void HGlobal()
    {
        nint memory = Marshal.AllocHGlobal(_length);
        Pages.Touch(new Span<byte>((void*)memory, _length));
        Marshal.FreeHGlobal(memory);
    }

    /// <summary>This library, which asks for huge pages.</summary>
    [Benchmark(Description = "Allocate, huge pages")]
    public void HugePageMemory() => AllocateAndTouch(_hugePages!);

    /// <summary>This library without huge pages.</summary>
    [Benchmark(Description = "Allocate, HugePages.Off")]
    public void SmallPageMemory() => AllocateAndTouch(_smallPages!);

    /// <summary>A new array.</summary>
    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => Touched(new byte[_length]);

    /// <summary>A new array that is not cleared where the collector has memory to hand.</summary>
    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => Touched(GC.AllocateUninitializedArray<byte>(_length));

    private static byte[] Touched(byte[] array)
    {
        Pages.Touch(array);
        return array;
    }

    private void AllocateAndTouch(MemoryAllocator allocator)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(_length);
        Work.On(owner);
        Pages.Touch(owner.Memory.Span);
    }
}

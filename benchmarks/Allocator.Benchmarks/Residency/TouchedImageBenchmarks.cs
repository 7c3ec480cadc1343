using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using CommunityToolkit.HighPerformance.Buffers;

namespace Allocator.Benchmarks.Residency;

/// <summary>Allocates an image in one piece, touches each page and frees it, again and again: the memory behind the bookkeeping.</summary>
[MemoryDiagnoser]
[ReportTitle("Allocate, touch and free an image in one piece, steady state")]
[ReportNote("One byte a page is written. Whoever keeps memory resident writes to it at once; whoever gives it back pays for each page again.")]
[ReportNote("The GNU C library recycles up to 32 MB, so AllocHGlobal is fast at 14 MB, and keeps that memory for good.")]
[AlsoComparedWith(nameof(ArrayPool))]
public class TouchedImageBenchmarks
{
    private const int Width = 2048;

    private MemoryAllocator? _allocator;
    private int _height;
    private int _length;

    /// <summary>Gets or sets the size of the image, in units of 1024 × 1024 bytes.</summary>
    [Params(14, 64)]
    public int SizeInMegabytes { get; set; }

    /// <summary>Makes the allocator.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        _allocator = MeasuredPool.Create();
        _length = SizeInMegabytes << 20;
        _height = _length / sizeof(int) / Width;
    }

    /// <summary>Disposes the allocator.</summary>
    [GlobalCleanup]
    public void CleanUp() => _allocator!.Dispose();

    /// <summary>The heap that classic designs take large memory from.</summary>
    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public unsafe void HGlobal()
    {
        nint memory = Marshal.AllocHGlobal(_length);
        Pages.Touch(new Span<byte>((void*)memory, _length));
        Marshal.FreeHGlobal(memory);
    }

    /// <summary>This library's pixel buffer, in one piece.</summary>
    [Benchmark(Description = "AllocatePixels, contiguous")]
    public void Pixels()
    {
        using PixelBuffer<int> pixels = _allocator!.AllocatePixels<int>(Width, _height, AllocationOptions.Contiguous);
        Work.On(pixels);
        if (!pixels.TryProcessSinglePixelSpan(static span => Pages.Touch(MemoryMarshal.AsBytes(span))))
        {
            throw new InvalidOperationException("The image is not in one piece.");
        }
    }

    /// <summary>A bare array.</summary>
    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(_length);
        Pages.Touch(array.AsSpan(0, _length));
        ArrayPool<byte>.Shared.Return(array);
    }

    /// <summary>The toolkit's owner of an array.</summary>
    [Benchmark(Description = "MemoryOwner")]
    public void ToolkitOwner()
    {
        using MemoryOwner<byte> owner = MemoryOwner<byte>.Allocate(_length);
        Work.On(owner);
        Pages.Touch(owner.Span);
    }

    /// <summary>A new array.</summary>
    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray()
    {
        byte[] array = new byte[_length];
        Pages.Touch(array);
        return array;
    }

    /// <summary>A new array that is not cleared where the collector has memory to hand.</summary>
    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray()
    {
        byte[] array = GC.AllocateUninitializedArray<byte>(_length);
        Pages.Touch(array);
        return array;
    }
}

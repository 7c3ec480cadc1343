using System.Buffers;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using Measuring.Classic;

namespace Allocator.Benchmarks.Residency;

/// <summary>Gives the memory of a block back to the system and touches it again: what trimming costs a renter who comes back too soon.</summary>
[MemoryDiagnoser]
[ReportTitle("Purge and retouch of one 4 MB block")]
[ReportNote("Rent, write one byte a page, return, release what is idle. The row without release shows what the first three cost on memory that is resident.")]
[ReportNote("The model frees to a heap that is told to give memory of this size back (M_MMAP_THRESHOLD, in the GNU C library); left alone it would keep 4 MB.")]
public class PurgeBenchmarks
{
    private const int Length = 4 << 20;

    private MemoryAllocator? _hugePages;
    private MemoryAllocator? _smallPages;
    private ClassicAllocator? _classic;

    /// <summary>Makes the allocators.</summary>
    [GlobalSetup]
    public void SetUp()
    {
        FreshHeap.Require();
        _hugePages = MeasuredPool.Create(HugePages.Auto);
        _smallPages = MeasuredPool.Create(HugePages.Off);
        _classic = new ClassicAllocator(capacity: 256);
    }

    /// <summary>Frees what the allocators hold.</summary>
    [GlobalCleanup]
    public void CleanUp()
    {
        _hugePages!.Dispose();
        _smallPages!.Dispose();
        _classic!.Release();
    }

    /// <summary>The model, which frees the block.</summary>
    [Benchmark(Baseline = true, Description = "classic, released")]
    public void Classic()
    {
        Touch(_classic!.Allocate<byte>(Length));
        _classic.Release();
    }

    /// <summary>This library with huge pages.</summary>
    [Benchmark(Description = "pool, huge pages, released")]
    public void HugePageBlock()
    {
        Touch(_hugePages!.Allocate<byte>(Length));
        _hugePages.ReleaseRetainedResources();
    }

    /// <summary>This library without huge pages.</summary>
    [Benchmark(Description = "pool, HugePages.Off, released")]
    public void SmallPageBlock()
    {
        Touch(_smallPages!.Allocate<byte>(Length));
        _smallPages.ReleaseRetainedResources();
    }

    /// <summary>This library, whose block stays resident.</summary>
    [Benchmark(Description = "pool, not released")]
    public void ResidentBlock() => Touch(_hugePages!.Allocate<byte>(Length));

    private static void Touch(IMemoryOwner<byte> owner)
    {
        using (owner)
        {
            Work.On(owner);
            Pages.Touch(owner.Memory.Span);
        }
    }
}

namespace Allocator.Benchmarks.Residency;

/// <summary>
/// Allocates memory of the system, touches each page, and frees it: memory is fresh only once, so all three are timed. The allocator has
/// no pool here.
/// </summary>
public partial class FirstTouchBenchmarks : PoolBenchmarks
{
    // M_MMAP_THRESHOLD of malloc.h: each allocation above it is a mapping of its own, and not what was freed before.
    private const int MapThreshold = -3;
    private const int AdviseHugePages = 14;
    private const int Boundary = 2 << 20;

    private MemoryAllocator _hugePages = null!;
    private MemoryAllocator _smallPages = null!;

    [Params(4, 32, 128)]
    public int SizeInMegabytes { get; set; }

    private int Length => SizeInMegabytes << 20;

    private protected override void OnSetUp()
    {
        _hugePages = Create(HugePages.Auto);
        _smallPages = Create(HugePages.Off);
        _ = SetOption(MapThreshold, 64 << 10);
    }

    private protected override void OnCleanUp()
    {
        _hugePages.Dispose();
        _smallPages.Dispose();
    }

    /// <summary>What the kernel gives at best: a mapping on a boundary of huge pages, of which it is told.</summary>
    [Benchmark(Baseline = true, Description = "mapping, MADV_HUGEPAGE")]
    public void Mapping()
    {
        nint mapping = PageMemory.Allocate(Length + Boundary);
        nint address = (mapping + Boundary - 1) & -Boundary;
        _ = Advise(address, (nuint)Length, AdviseHugePages);
        PageTouch.Write(address, Length);
        PageMemory.Free(mapping, Length + Boundary);
    }

    [Benchmark(Description = "owner, huge pages")]
    public void OwnerOfHugePages() => Touch(_hugePages.Allocate<byte>(Length));

    [Benchmark(Description = "owner, HugePages.Off")]
    public void OwnerOfSmallPages() => Touch(_smallPages.Allocate<byte>(Length));

    [Benchmark(Description = "AllocHGlobal")]
    public void HGlobal() => TouchHGlobal(Length);

    private static MemoryAllocator Create(HugePages hugePages)
        => MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0, HugePages = hugePages });

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetOption(int option, int value);

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nint address, nuint length, int advice);
}

/// <summary>Touches 64 MB in one piece again and again: of the heap, of the pool, and of a pool that releases it each time.</summary>
public class TouchedImageBenchmarks : PoolBenchmarks
{
    private const int Length = 64 << 20;

    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public void HGlobal() => TouchHGlobal(Length);

    [Benchmark(Description = "owner, contiguous")]
    public void Owner() => Touch(Pool.Allocate<byte>(Length, AllocationOptions.Contiguous));

    [Benchmark(Description = "owner, contiguous, released")]
    public void ReleasedOwner()
    {
        Owner();
        Pool.ReleaseRetainedResources();
    }

    [Benchmark(Description = "ArrayPool")]
    public void ArrayPool() => UseArrayPool(Length, touch: true);
}

/// <summary>
/// Gets zeroed memory of which one byte a page is then written. The pool's memory was written to in the round before, so Clean has to
/// clear all of it, once.
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
        owner.Memory.Span.Clear();
        PageTouch.Write(owner.Memory.Span);
    }

    [Benchmark(Description = "Allocate with Clean")]
    public void AllocateClean() => Touch(Pool.Allocate<byte>(Length, AllocationOptions.Clean));

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray()
    {
        byte[] array = new byte[Length];
        PageTouch.Write(array);
        return array;
    }
}

namespace Allocator.Benchmarks.Residency;

/// <summary>
/// Benchmarks of fresh memory: allocators with huge pages and without, over pools of <paramref name="poolMegabytes"/>, and a heap of the
/// GNU C library that does not hand out again what was freed.
/// </summary>
public abstract partial class FreshBenchmarks(int poolMegabytes) : PoolBenchmarks
{
    // M_MMAP_THRESHOLD in malloc.h: every allocation above the size comes from a mapping of its own. Left alone, the heap does so for
    // sizes that it has not had to free yet, and recycles up to 32 MiB afterwards.
    private const int MapThreshold = -3;
    private const int MappedFromBytes = 64 << 10;

    private protected MemoryAllocator HugePageMemory { get; private set; } = null!;

    private protected MemoryAllocator SmallPageMemory { get; private set; } = null!;

    private protected override void OnSetUp()
    {
        HugePageMemory = Create(poolMegabytes, HugePages.Auto);
        SmallPageMemory = Create(poolMegabytes, HugePages.Off);
        if (!OperatingSystem.IsLinux() || SetOption(MapThreshold, MappedFromBytes) != 1)
        {
            Console.WriteLine("// This heap has no M_MMAP_THRESHOLD: what it hands out below 32 MB may be recycled and not fresh.");
        }
    }

    private protected override void OnCleanUp()
    {
        HugePageMemory.Dispose();
        SmallPageMemory.Dispose();
    }

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetOption(int option, int value);
}

/// <summary>
/// Allocates fresh memory, touches each page, and frees it; memory is fresh only once, so all three are timed. The allocator retains
/// nothing here. The collector's arrays are only in part fresh.
/// </summary>
public class FirstTouchBenchmarks() : FreshBenchmarks(poolMegabytes: 0)
{
    [Params(4, 32, 128)]
    public int SizeInMegabytes { get; set; }

    private int Length => SizeInMegabytes << 20;

    [Benchmark(Baseline = true, Description = "AllocHGlobal")]
    public void HGlobal() => TouchHGlobal(Length);

    [Benchmark(Description = "Allocate, huge pages")]
    public void AllocateHugePages() => Touch(HugePageMemory.Allocate<byte>(Length));

    [Benchmark(Description = "Allocate, HugePages.Off")]
    public void AllocateSmallPages() => Touch(SmallPageMemory.Allocate<byte>(Length));

    [Benchmark(Description = "new byte[]")]
    public byte[] NewArray() => Touched(new byte[Length]);

    [Benchmark(Description = "uninitialized array")]
    public byte[] UninitializedArray() => Touched(GC.AllocateUninitializedArray<byte>(Length));
}

/// <summary>Gives the memory of a block back to the system and touches it again: what trimming too soon costs.</summary>
public class PurgeBenchmarks() : FreshBenchmarks(poolMegabytes: 1024)
{
    private const int Length = 4 << 20;

    [Benchmark(Baseline = true, Description = "classic, released")]
    public void Classic()
    {
        Touch(ClassicAllocator.Allocate<byte>(Length));
        ClassicAllocator.Release();
    }

    [Benchmark(Description = "pool, huge pages, released")]
    public void HugePageBlock()
    {
        Touch(HugePageMemory.Allocate<byte>(Length));
        HugePageMemory.ReleaseRetainedResources();
    }

    [Benchmark(Description = "pool, HugePages.Off, released")]
    public void SmallPageBlock()
    {
        Touch(SmallPageMemory.Allocate<byte>(Length));
        SmallPageMemory.ReleaseRetainedResources();
    }

    [Benchmark(Description = "pool, not released")]
    public void ResidentBlock() => Touch(HugePageMemory.Allocate<byte>(Length));
}

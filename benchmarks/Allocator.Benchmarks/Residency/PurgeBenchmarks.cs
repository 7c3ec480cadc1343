namespace Allocator.Benchmarks.Residency;

/// <summary>Gives the memory of a block back to the system and touches it again: what trimming too soon costs.</summary>
[MemoryDiagnoser]
public class PurgeBenchmarks
{
    private const int Length = 4 << 20;

    private MemoryAllocator? _hugePages;
    private MemoryAllocator? _smallPages;
    private ClassicAllocator? _classic;

    [GlobalSetup]
    public void SetUp()
    {
        FreshHeap.Require();
        _hugePages = MeasuredPool.Create(HugePages.Auto);
        _smallPages = MeasuredPool.Create(HugePages.Off);
        _classic = new ClassicAllocator(capacity: 256);
    }

    [GlobalCleanup]
    public void CleanUp()
    {
        _hugePages!.Dispose();
        _smallPages!.Dispose();
        _classic!.Release();
    }

    [Benchmark(Baseline = true, Description = "classic, released")]
    public void Classic()
    {
        Touch(_classic!.Allocate<byte>(Length));
        _classic.Release();
    }

    [Benchmark(Description = "pool, huge pages, released")]
    public void HugePageBlock()
    {
        Touch(_hugePages!.Allocate<byte>(Length));
        _hugePages.ReleaseRetainedResources();
    }

    [Benchmark(Description = "pool, HugePages.Off, released")]
    public void SmallPageBlock()
    {
        Touch(_smallPages!.Allocate<byte>(Length));
        _smallPages.ReleaseRetainedResources();
    }

    [Benchmark(Description = "pool, not released")]
    public void ResidentBlock() => Touch(_hugePages!.Allocate<byte>(Length));

    private static void Touch(IMemoryOwner<byte> owner)
    {
        using (owner)
        {
            Work.On(owner);
            PageTouch.Write(owner.Memory.Span);
        }
    }
}

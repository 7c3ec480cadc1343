namespace Allocator.Benchmarks.Contention;

/// <summary>
/// Rents and returns blocks of 4 MB on several threads at once. Time is wall time divided by all rents of all threads: where it falls with
/// more threads, the allocator scales. The blocks are not touched: they are addresses without memory.
/// </summary>
public class ContentionBenchmarks : PoolBenchmarks
{
    // Enough that waking the threads, some 10 microseconds each, is lost in the time of the rents.
    private const int Operations = 1 << 19;

    // For what takes microseconds.
    private const int SlowOperations = 1 << 15;

    // Short ones, so that the loops are entered often enough to be compiled anew before anything is timed.
    private const int WarmUpRuns = 100;
    private const int WarmUpOperationsPerThread = 64;

    private ThreadTeam? _team;

    [Params(1, 2, 4, 8, 32)]
    public int Threads { get; set; }

    [Params(1, Contender.Four)]
    public int BlocksHeld { get; set; }

    [GlobalSetup(Target = nameof(Classic))]
    public void SetUpClassic() => Start(() => new Contender<MemorySource.ClassicOwners, HeldOwner>(new(ClassicAllocator)));

    [GlobalSetup(Target = nameof(Allocate))]
    public void SetUpAllocate() => Start(() => new Contender<MemorySource.Owners, HeldOwner>(new(Pool)));

    [GlobalSetup(Target = nameof(Lease))]
    public void SetUpLease() => Start(() => new PoolLeases(Pool));

    [GlobalSetup(Target = nameof(ArrayPool))]
    public void SetUpArrayPool() => Start(() => new Contender<MemorySource.Arrays, HeldArray>(default));

    [GlobalSetup(Target = nameof(MemoryPool))]
    public void SetUpMemoryPool() => Start(() => new Contender<MemorySource.SharedOwners, HeldOwner>(default));

    [GlobalSetup(Target = nameof(Heap))]
    public void SetUpHeap() => Start(() => new Contender<MemorySource.Heap, HeldAddress>(default));

    private protected override void OnCleanUp() => _team!.Dispose();

    [Benchmark(Baseline = true, Description = "classic", OperationsPerInvoke = SlowOperations)]
    public void Classic() => _team!.Run(SlowOperations);

    [Benchmark(Description = "Allocate", OperationsPerInvoke = Operations)]
    public void Allocate() => _team!.Run(Operations);

    [Benchmark(Description = "Rent (lease)", OperationsPerInvoke = Operations)]
    public void Lease() => _team!.Run(Operations);

    [Benchmark(Description = "ArrayPool", OperationsPerInvoke = Operations)]
    public void ArrayPool() => _team!.Run(Operations);

    [Benchmark(Description = "MemoryPool", OperationsPerInvoke = Operations)]
    public void MemoryPool() => _team!.Run(Operations);

    [Benchmark(Description = "NativeMemory", OperationsPerInvoke = Operations)]
    public void Heap() => _team!.Run(Operations);

    private void Start(Func<Contender> create)
    {
        SetUp();
        Contender contender = create();
        _team = new ThreadTeam(Threads, BlocksHeld == 1
            ? (_, count) => contender.HoldOne(count)
            : (_, count) => contender.HoldFour(count));

        // Twice, with a pause in which the runtime compiles what was found to be hot.
        WarmUp();
        Thread.Sleep(200);
        WarmUp();
    }

    private void WarmUp()
    {
        for (int i = 0; i < WarmUpRuns; i++)
        {
            _team!.Run(Threads * WarmUpOperationsPerThread);
        }
    }
}

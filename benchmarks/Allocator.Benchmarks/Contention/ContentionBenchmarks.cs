namespace Allocator.Benchmarks.Contention;

/// <summary>
/// Rents and returns memory on several threads at once. Time is wall time divided by all rents of all threads: where it falls with more
/// threads, the allocator scales. The memory is not touched.
/// </summary>
public abstract class TeamBenchmarks : PoolBenchmarks
{
    // Enough that waking the threads, some 10 microseconds each, is lost in the time of the rents.
    private protected const int Operations = 1 << 17;

    // Short ones, so that the loops are entered often enough to be compiled anew before anything is timed.
    private const int WarmUpRuns = 100;
    private const int WarmUpOperationsPerThread = 64;

    private ThreadTeam? _team;

    private protected void Start(int threads, Action<int> loop)
    {
        SetUp();
        _team = new ThreadTeam(threads, (_, count) => loop(count));

        // Twice, with a pause in which the runtime compiles what was found to be hot.
        for (int round = 0; round < 2; round++)
        {
            for (int i = 0; i < WarmUpRuns; i++)
            {
                _team.Run(threads * WarmUpOperationsPerThread);
            }

            Thread.Sleep(200);
        }
    }

    private protected void Run() => _team!.Run(Operations);

    private protected override void OnCleanUp() => _team!.Dispose();

    /// <summary>Rents <paramref name="held"/> pieces, then returns them, until <paramref name="count"/> were had.</summary>
    private protected static void Hold<TSource, THeld>(TSource source, int length, int held, int count)
        where TSource : struct, IMemorySource<THeld>
        where THeld : struct, IHeldBytes
    {
        THeld[] pieces = new THeld[held];
        for (int i = 0; i < count; i += held)
        {
            for (int j = 0; j < pieces.Length; j++)
            {
                pieces[j] = source.Allocate(length);
                Work(pieces[j]);
            }

            for (int j = pieces.Length - 1; j >= 0; j--)
            {
                source.Free(pieces[j], length);
            }
        }
    }

    /// <summary>The same with leases, which live on the stack and in no array.</summary>
    private protected static void HoldLeases(MemoryAllocator allocator, int length, int held, int count)
    {
        for (int i = 0; i < count; i += held)
        {
            Lease(allocator, length, held);
        }
    }

    private static void Lease(MemoryAllocator allocator, int length, int held)
    {
        using MemoryLease<byte> lease = allocator.Rent<byte>(length);
        Work(lease.Length);
        if (held > 1)
        {
            Lease(allocator, length, held - 1);
        }
    }
}

/// <summary>Blocks of 4 MB.</summary>
public class ContentionBenchmarks : TeamBenchmarks
{
    private const int Length = 4 << 20;

    [Params(1, 2, 8, 32)]
    public int Threads { get; set; }

    [Params(1, 4)]
    public int BlocksHeld { get; set; }

    [GlobalSetup(Target = nameof(ArrayPool))]
    public void SetUpArrayPool() => Start<MemorySource.Arrays, HeldArray>(() => default);

    [GlobalSetup(Target = nameof(Classic))]
    public void SetUpClassic() => Start<MemorySource.ClassicOwners, HeldOwner>(() => new(ClassicAllocator));

    [GlobalSetup(Target = nameof(Allocate))]
    public void SetUpAllocate() => Start<MemorySource.Owners, HeldOwner>(() => new(Pool));

    [GlobalSetup(Target = nameof(Lease))]
    public void SetUpLease() => Start(Threads, count => HoldLeases(Pool, Length, BlocksHeld, count));

    [Benchmark(Baseline = true, Description = "ArrayPool", OperationsPerInvoke = Operations)]
    public void ArrayPool() => Run();

    [Benchmark(Description = "classic", OperationsPerInvoke = Operations)]
    public void Classic() => Run();

    [Benchmark(Description = "owner", OperationsPerInvoke = Operations)]
    public void Allocate() => Run();

    [Benchmark(Description = "lease", OperationsPerInvoke = Operations)]
    public void Lease() => Run();

    private void Start<TSource, THeld>(Func<TSource> create)
        where TSource : struct, IMemorySource<THeld>
        where THeld : struct, IHeldBytes
        => Start(Threads, count => Hold<TSource, THeld>(create(), Length, BlocksHeld, count));
}

/// <summary>
/// 16 MB in one piece, four adjacent blocks of the pool: free, with blocks cached near other threads, and under a budget.
/// </summary>
public class ContiguousBenchmarks : TeamBenchmarks
{
    private const int Length = 16 << 20;

    private MemoryAllocator? _limited;

    [Params(1, 2)]
    public int Threads { get; set; }

    [GlobalSetup(Target = nameof(Heap))]
    public void SetUpHeap() => Start(Threads, count => Hold<MemorySource.Heap, HeldAddress>(default, Length, 1, count));

    [GlobalSetup(Target = nameof(Lease))]
    public void SetUpLease() => Start(Threads, count => HoldLeases(Pool, Length, 1, count));

    [GlobalSetup(Target = nameof(CrowdedLease))]
    public void SetUpCrowdedLease()
    {
        Start(Threads, count => HoldLeases(Pool, Length, 1, count));
        using ThreadTeam others = new(4, (_, count) => HoldLeases(Pool, Length / 4, 1, count));
        others.Run(1000);
    }

    [GlobalSetup(Target = nameof(LimitedLease))]
    public void SetUpLimitedLease()
    {
        _limited = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 512 });
        Start(Threads, count => HoldLeases(_limited, Length, 1, count));
    }

    private protected override void OnCleanUp()
    {
        base.OnCleanUp();
        _limited?.Dispose();
    }

    [Benchmark(Baseline = true, Description = "malloc, untouched", OperationsPerInvoke = Operations)]
    public void Heap() => Run();

    [Benchmark(Description = "lease", OperationsPerInvoke = Operations)]
    public void Lease() => Run();

    [Benchmark(Description = "lease, blocks cached near other threads", OperationsPerInvoke = Operations)]
    public void CrowdedLease() => Run();

    [Benchmark(Description = "lease, budget", OperationsPerInvoke = Operations)]
    public void LimitedLease() => Run();
}

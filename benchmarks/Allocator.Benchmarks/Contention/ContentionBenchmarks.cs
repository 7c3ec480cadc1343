using System.Threading;
using Allocator.Benchmarks.Contenders;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Attributes;
using Measuring.Timing;

namespace Allocator.Benchmarks.Contention;

/// <summary>Rents and returns blocks of 4 MB on several threads at once.</summary>
[MemoryDiagnoser]
[ReportTitle("Rent and return of 4 MB on several threads")]
[ReportNote("Time is wall time divided by all rents of all threads: where it falls with more threads, the allocator scales.")]
[ReportNote("Nobody touches the blocks. Those of the pool, the model and the heap are then addresses without memory, up to 128 blocks of 4 MB for 32 threads with four each; the shared pools' arrays likewise.")]
[AlsoComparedWith(nameof(ArrayPool))]
[AlsoComparedWith(nameof(MemoryPool))]
[ChartOver(nameof(Threads), "threads")]
public class ContentionBenchmarks
{
    // Enough that waking the threads, some 10 microseconds each, is lost in the time of the rents.
    private const int Operations = 1 << 19;

    // For those that take microseconds.
    private const int SlowOperations = 1 << 15;

    // Short ones, so that the loops are entered often enough to be compiled anew before anything is timed.
    private const int WarmUpRuns = 100;
    private const int WarmUpOperationsPerThread = 64;

    private Contender? _contender;
    private ThreadTeam? _team;

    /// <summary>Gets or sets how many threads rent at the same time.</summary>
    [Params(1, 2, 4, 8, 32)]
    public int Threads { get; set; }

    /// <summary>Gets or sets how many blocks each thread has at once.</summary>
    [Params(1, Contender.Four)]
    public int BlocksHeld { get; set; }

    /// <summary>Starts the threads for <see cref="Classic"/>.</summary>
    [GlobalSetup(Target = nameof(Classic))]
    public void SetUpClassic() => Start(new ClassicOwners());

    /// <summary>Starts the threads for <see cref="Allocate"/>.</summary>
    [GlobalSetup(Target = nameof(Allocate))]
    public void SetUpAllocate() => Start(new PoolOwners());

    /// <summary>Starts the threads for <see cref="Lease"/>.</summary>
    [GlobalSetup(Target = nameof(Lease))]
    public void SetUpLease() => Start(new PoolLeases());

    /// <summary>Starts the threads for <see cref="ArrayPool"/>.</summary>
    [GlobalSetup(Target = nameof(ArrayPool))]
    public void SetUpArrayPool() => Start(new SharedArrayPool());

    /// <summary>Starts the threads for <see cref="MemoryPool"/>.</summary>
    [GlobalSetup(Target = nameof(MemoryPool))]
    public void SetUpMemoryPool() => Start(new SharedMemoryPool());

    /// <summary>Starts the threads for <see cref="Heap"/>.</summary>
    [GlobalSetup(Target = nameof(Heap))]
    public void SetUpHeap() => Start(new HeapBlocks());

    /// <summary>Ends the threads and frees the blocks.</summary>
    [GlobalCleanup]
    public void CleanUp()
    {
        _team!.Dispose();
        _contender!.Dispose();
    }

    /// <summary>The model: a lock and a finalizable guard.</summary>
    [Benchmark(Baseline = true, Description = "classic", OperationsPerInvoke = SlowOperations)]
    public void Classic() => _team!.Run(SlowOperations);

    /// <summary>This library's owner.</summary>
    [Benchmark(Description = "Allocate", OperationsPerInvoke = Operations)]
    public void Allocate() => _team!.Run(Operations);

    /// <summary>This library's lease.</summary>
    [Benchmark(Description = "Rent (lease)", OperationsPerInvoke = Operations)]
    public void Lease() => _team!.Run(Operations);

    /// <summary>The shared array pool.</summary>
    [Benchmark(Description = "ArrayPool", OperationsPerInvoke = Operations)]
    public void ArrayPool() => _team!.Run(Operations);

    /// <summary>The shared memory pool.</summary>
    [Benchmark(Description = "MemoryPool", OperationsPerInvoke = Operations)]
    public void MemoryPool() => _team!.Run(Operations);

    /// <summary>The heap of the C library.</summary>
    [Benchmark(Description = "NativeMemory", OperationsPerInvoke = SlowOperations)]
    public void Heap() => _team!.Run(SlowOperations);

    private void Start(Contender contender)
    {
        _contender = contender;
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

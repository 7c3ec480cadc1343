using System.Collections.Concurrent;
using System.Diagnostics;
using Allocator;

namespace ContractSuite.Loading;

/// <summary>Everything at once for some seconds in each safety mode: no buffer shares its memory, and all comes back.</summary>
internal static class LoadContract
{
    private const int Threads = 8;
    private const int BudgetMegabytes = 160;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    // Mono's collector is conservative: a few of what was dropped look as if they were in use.
    private static int MostNeverFound => Type.GetType("Mono.Runtime") is null ? 0 : 8;

    public static void Run(Checks checks, TimeSpan duration)
    {
        foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Standard, SafetyMode.Sampled, SafetyMode.Guarded])
        {
            checks.Run($"stress: {mode}, {Threads} threads, {duration.TotalSeconds} s", () => Run(mode, duration));
        }
    }

    private static void Run(SafetyMode mode, TimeSpan duration)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 96,
            MemoryBudgetMegabytes = BudgetMegabytes,
            BudgetTimeout = TimeSpan.FromMilliseconds(30),
            TrimPeriod = TimeSpan.FromSeconds(1),
            Safety = mode,
            SafetySampleInterval = 5,
        });
        Tally tally = new();
        ConcurrentQueue<Holding> handedOver = new();
        using (CancellationTokenSource stop = new(duration))
        {
            Thread[] threads = Enumerable.Range(1, Threads).Select(seed => new Thread(() => Load(seed, stop.Token))).ToArray();
            Array.ForEach(threads, static thread => thread.Start());
            Array.ForEach(threads, static thread => thread.Join());
        }

        while (handedOver.TryDequeue(out Holding? left))
        {
            left.Dispose();
        }

        AwaitTheEnd(allocator);
        MemoryAllocatorStatistics end = allocator.GetStatistics();
        Console.WriteLine($"   {tally.Counts.Sum(static count => count.Value)} operations; {end}");
        Checks.That(tally.Violations.Count == 0, string.Join(Environment.NewLine, tally.Violations.Take(4)));
        Checks.That(end.OutstandingAllocations <= MostNeverFound, $"all is back: {end}");
        Checks.That(end.Abandoned + end.OutstandingAllocations == tally["abandoned"], $"{tally["abandoned"]} abandoned: {end}");
        Checks.That(end.PeakCommittedBytes <= (long)BudgetMegabytes << 20, $"a peak within the budget: {end}");
        Checks.That(MostNeverFound > 0 || end is { RentedBytes: 0, CommittedBytes: 0, BudgetUsedBytes: 0 }, $"nothing is held: {end}");

        void Load(int seed, CancellationToken stop)
        {
            try
            {
                new RandomLoad(allocator, tally, handedOver, seed, mayRunOut: false).Run(int.MaxValue, stop);
            }
            catch (Exception exception)
            {
                tally.Report(exception.ToString());
            }
        }
    }

    // What was abandoned is found by collections, and leaves its quarantine after a trim period.
    private static void AwaitTheEnd(MemoryAllocator allocator)
    {
        Stopwatch waited = Stopwatch.StartNew();
        using ManualResetEventSlim never = new();
        while (waited.Elapsed < s_patience && !IsTheEnd(allocator.GetStatistics()))
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            never.Wait(100);
            allocator.ReleaseRetainedResources();
        }
    }

    private static bool IsTheEnd(MemoryAllocatorStatistics now) =>
        MostNeverFound > 0 ? now.OutstandingAllocations <= MostNeverFound : now is { OutstandingAllocations: 0, CommittedBytes: 0 };
}

using System.Diagnostics;
using System.Runtime.CompilerServices;
using Allocator;

namespace ContractSuite;

/// <summary>What is dropped without <c>Dispose</c> is found by the collector, counted, and comes back after its quarantine.</summary>
internal static class AbandonmentContract
{
    private const int Dropped = 32;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);

    // Mono's collector takes whatever looks like a reference on a stack for one, and so may keep some alive. A precise one finds all.
    private static readonly int s_leastFound = Type.GetType("Mono.Runtime") is null ? Dropped : Dropped / 2;

    public static void IsFound(NativeMemoryKind kind)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            Name = "abandonment",
            NativeMemory = kind,
            MaximumPoolSizeMegabytes = 256,
            TrimPeriod = TimeSpan.FromMilliseconds(5),
            CollectToFindAbandoned = true,
        });

        // On a stack that is gone afterwards, with whatever was left on it.
        Thread dropping = new(() => Drop(allocator, depth: 16));
        dropping.Start();
        dropping.Join();
        WaitFor(() => allocator.GetStatistics().Abandoned >= s_leastFound);
        long found = allocator.GetStatistics().Abandoned;
        Checks.That(found >= s_leastFound && found <= Dropped, $"{s_leastFound} to {Dropped} abandoned allocations, found {found}");

        // The trimmer's timer looks for what has stayed long enough.
        WaitFor(() => allocator.GetStatistics().QuarantinedBytes == 0);
        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Checks.That(statistics.QuarantinedBytes == 0, $"nothing in quarantine at the end: {statistics}");
        Checks.That(statistics.OutstandingAllocations == Dropped - statistics.Abandoned, $"the others out: {statistics}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
#pragma warning disable ALLOC001 // Abandoned on purpose.
    private static void Drop(MemoryAllocator allocator, int depth)
    {
        if (depth > 0)
        {
            Drop(allocator, depth - 1);
            return;
        }

        for (int i = 0; i < Dropped; i++)
        {
            allocator.Allocate<byte>(3_000_000).Memory.Span.Fill(1);
        }
    }
#pragma warning restore ALLOC001

    private static void WaitFor(Func<bool> isReached)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !isReached() && watch.Elapsed < s_patience;)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }
}

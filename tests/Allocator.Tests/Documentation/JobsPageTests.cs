using System.Diagnostics;

namespace Allocator.Tests.Documentation;

/// <summary>What <c>docs/jobs.md</c> says about blocked threads of the pool, measured.</summary>
[Collection(nameof(Alone))]
public class JobsPageTests
{
    [Fact]
    public void WaitingRequests_BesideUnrelatedWork_AddThreadsAndDelayItIfTheyBlock() => RemoteExecutor.Invoke(static () =>
    {
        // The first time everything is compiled.
        _ = Measure(isBlocking: false);
        (int added, double milliseconds) asynchronous = Measure(isBlocking: false);
        (int added, double milliseconds) blocking = Measure(isBlocking: true);

        // For six more requests than cores, and the unrelated work; another thread of the pool may have been there already. On a busy
        // machine the asynchronous case is late too, by what the machine takes and not by threads.
        string measured = $"{asynchronous}, {blocking}";
        Assert.True(blocking.added >= 4 && blocking.added > asynchronous.added, measured);
        Assert.True(blocking.milliseconds > asynchronous.milliseconds, measured);
    }).Dispose();

    // Returns how many threads the pool had added when the unrelated work ran, and how late that was.
    private static (int Added, double Milliseconds) Measure(bool isBlocking)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MemoryBudgetMegabytes = 16,
            BudgetTimeout = TimeSpan.FromMinutes(1),
        });
        PixelBuffer<int> everything = allocator.AllocatePixels<int>(2048, 2048);   // 16 MB: no room for another
        int requests = Environment.ProcessorCount + 6;
        using CountdownEvent arrived = new(requests);
        Task[] waiting = new Task[requests];
        int threads = ThreadPool.ThreadCount;
        for (int i = 0; i < requests; i++)
        {
            waiting[i] = isBlocking ? Task.Run(Blocking) : Task.Run(Asynchronous);
        }

        // Unrelated, and behind them in the queue.
        Stopwatch clock = Stopwatch.StartNew();
        using ManualResetEventSlim ran = new();
        ThreadPool.UnsafeQueueUserWorkItem(_ => ran.Set(), null);
        ran.Wait();
        (int, double) measured = (ThreadPool.ThreadCount - threads, clock.Elapsed.TotalMilliseconds);
        arrived.Wait();
        everything.Dispose();
        Task.WaitAll(waiting);
        return measured;

        void Blocking()
        {
            arrived.Signal();
            allocator.Allocate<byte>(4_000_000).Dispose();
        }

        async Task Asynchronous()
        {
            arrived.Signal();
            (await allocator.AllocateAsync<byte>(4_000_000)).Dispose();
        }
    }
}

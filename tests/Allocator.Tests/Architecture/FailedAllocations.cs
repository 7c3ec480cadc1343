namespace Allocator.Tests.Architecture;

/// <summary>
/// Waits for a budget while one allocation of the library's own fails: the first, the second, and so on, until a wait makes no more of
/// them. Run in a copy of the library in which each allocation is counted.
/// </summary>
internal static class FailedAllocations
{
    private const long Budget = 8 << 20;
    private const int Half = 4 << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    // Returns what has to be disposed of at the end. The first argument frees what is in the way.
    private static readonly (string Name, Func<Action, MemoryAllocator, Task<IDisposable>> Wait)[] s_waits =
    [
        ("ReserveAsync", static async (free, allocator) =>
        {
            ValueTask<MemoryReservation> waiting = allocator.ReserveAsync(Half);
            free();
            return await waiting;
        }),
        ("ReserveAsync with a time", static async (free, allocator) =>
        {
            ValueTask<MemoryReservation> waiting = allocator.ReserveAsync(Half, s_patience);
            free();
            return await waiting;
        }),
        ("ReserveAsync without room in time", static async (_, allocator) =>
            await allocator.ReserveAsync(Half, TimeSpan.FromMilliseconds(1))),
        ("ReserveAsync that is cancelled", static async (_, allocator) =>
        {
            using CancellationTokenSource source = new();
            ValueTask<MemoryReservation> waiting = allocator.ReserveAsync(Half, source.Token);
            source.Cancel();
            return await waiting;
        }),
        ("AllocateAsync", static async (free, allocator) =>
        {
            ValueTask<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(Half);
            free();
            return await waiting;
        }),
        ("AllocateAsync of an array", static async (free, allocator) =>
        {
            ValueTask<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(100_000);
            free();
            return await waiting;
        }),
        ("AllocatePixelsAsync", static async (free, allocator) =>
        {
            ValueTask<PixelBuffer<int>> waiting = allocator.AllocatePixelsAsync<int>(1024, 1024);
            free();
            return await waiting;
        }),
        ("GrowAsync", static async (free, allocator) =>
        {
            Assert.True(allocator.TryReserve(0, out MemoryReservation? made));
            using MemoryReservation job = made;
            ValueTask growing = job.GrowAsync(Half);
            free();
            await growing;
            return made;
        }),
    ];

    /// <summary>Prints the largest number of each kind of wait. Throws where a wait does not end, or anything is lost.</summary>
    public static void Run()
    {
        ref int left = ref CountedAllocations.LeftOf(typeof(MemoryAllocator))();
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = (int)(Budget >> 20) });
        foreach ((string name, Func<Action, MemoryAllocator, Task<IDisposable>> wait) in s_waits)
        {
            // Whatever is made once.
            EndsBefore(0, wait, allocator, ref left);
            EndsBefore(0, wait, allocator, ref left);
            int failing = 1;
            while (!EndsBefore(failing, wait, allocator, ref left))
            {
                failing++;
            }

            // Each wait makes its request.
            Assert.True(failing > 1, $"{name}: no allocation has failed.");
            Console.WriteLine($"{name}: {failing - 1} allocations");
        }
    }

    // Returns whether the wait made fewer allocations.
    private static bool EndsBefore(
        int failing, Func<Action, MemoryAllocator, Task<IDisposable>> wait, MemoryAllocator allocator, ref int left)
    {
        Assert.True(allocator.TryReserve(Budget, out MemoryReservation? inTheWay));
        Volatile.Write(ref left, failing);
        Task<IDisposable> waiting = wait(inTheWay.Dispose, allocator);
        bool isOver = Task.WhenAny(waiting).Wait(s_patience);
        bool isReached = Interlocked.Exchange(ref left, 0) <= 0;
        Assert.True(isOver, $"Allocation {failing} failed, and a wait does not end.");
        inTheWay.Dispose();
        if (waiting.IsCompletedSuccessfully)
        {
            waiting.Result.Dispose();
        }
        else if (!waiting.IsCanceled)
        {
            Exception failure = waiting.Exception!.InnerException!;
            Assert.True(failure is OutOfMemoryException or MemoryLimitExceededException, failure.ToString());
        }

        // What was granted and lost comes back with a collection.
        bool isAllBack = IsAllBack() || SpinWait.SpinUntil(
            () =>
            {
                QueuedWork.Collect();
                return IsAllBack();
            },
            s_patience);
        Assert.True(isAllBack, $"Allocation {failing} failed, and something is lost: {allocator.GetStatistics()}");
        return !isReached;

        bool IsAllBack() => allocator.GetStatistics() is { BudgetUsedBytes: 0, OutstandingAllocations: 0 };
    }
}

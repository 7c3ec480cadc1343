using Allocator.Tests.Limits;

namespace Allocator.Tests.Trimming;

/// <summary>What the library does on its own account in a process without managed memory.</summary>
/// <remarks>Alone: a busy machine makes the runtime start threads meanwhile, which ends the process.</remarks>
[Collection(nameof(Alone))]
public class ManagedMemoryTests
{
    private const int Buffer = 3 << 20;

    private static readonly TimeSpan s_exhausted = 2 * ExhaustedProcessTests.Duration;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly object?[] s_dropped = new object?[48];
    private static volatile bool s_throws = true;

    // What the library would do wrong it does at each of eighty ticks; of more than a thousand in the nightly run. The runtime itself may
    // compile a method meanwhile, and ends the process because it cannot: then another process shows it, one of five.
    [Fact]
    public void Ticks_NoManagedMemory_ProcessSurvivesAndEverythingIsReturned() => Survive(UseAllocators);

    [Fact]
    public void Waits_NoManagedMemory_EndAndLoseNothing() => Survive(WaitForTheBudget);

    private static void Survive(Action method) => ExhaustedRuntime.Survive(() => RemoteExecutor.Invoke(method, Limited()));

    private static void UseAllocators()
    {
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => ThrowIfAsked();
        using MemoryAllocator plain = Create(SafetyMode.Standard, null);
        using MemoryAllocator watched = Create(SafetyMode.Sampled, null);
        using MemoryAllocator budgeted = Create(SafetyMode.Standard, 128);
        MemoryAllocator[] all = [plain, watched, budgeted];
        List<IMemoryOwner<byte>> outstanding = [.. all.Select(static allocator => allocator.Allocate<byte>(Buffer))];
        Fill(all);
        int next = 0;

        new ExhaustedHeap(s_exhausted).Hold(() =>
        {
            // Collections find it, and finalizers have to deal with it, while nothing can be allocated.
            if (next < s_dropped.Length)
            {
                s_dropped[next++] = null;
            }
        });

        s_throws = false;
        Array.Clear(s_dropped);
        outstanding.ForEach(static owner => owner.Dispose());

        WaitFor(
            () => all.All(static allocator =>
                allocator.GetStatistics() is
                {
                    CommittedBytes: 0,
                    QuarantinedBytes: 0,
                    RentedBytes: 0,
                    OutstandingAllocations: 0,
                    BudgetUsedBytes: 0
                }),
            all);
        Assert.True(
            all.Sum(static allocator => allocator.GetStatistics().Abandoned) >= s_dropped.Length / 2, "Nothing was abandoned meanwhile.");

        // Without a collection: by the timer alone.
        plain.AllocateGroup<byte>(4 * Buffer).Dispose();
        Assert.NotEqual(0, plain.GetStatistics().RetainedBytes);
        Assert.True(SpinWait.SpinUntil(() => plain.GetStatistics().CommittedBytes == 0, s_patience), "No tick.");
    }

    private static void WaitForTheBudget()
    {
        // Timed reservations and a pool that has its threads: the runtime compiles nothing and starts no thread without memory.
        QueuedWork.StartPoolThreads();
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 });
        WaitForTheBudget(allocator, static meanwhile =>
        {
            for (int i = 0; i < 1000; i++)
            {
                meanwhile();
            }
        });

        // No longer than ten: the runtime ends idle threads of the pool after 20 seconds, and the process if it lacks memory for the next.
        WaitForTheBudget(allocator, new ExhaustedHeap(TimeSpan.FromSeconds(Math.Min(10, s_exhausted.TotalSeconds))).Hold);
    }

    // Half of the waits are granted while there is no memory, and the time of the others ends then. More begin then, as far as they can.
    private static void WaitForTheBudget(MemoryAllocator allocator, Action<Action> hold)
    {
        const int Waits = 64;
        const long Part = (256L << 20) / Waits;
        MemoryReservation[] inTheWay = new MemoryReservation[Waits];
        for (int i = 0; i < Waits; i++)
        {
            inTheWay[i] = allocator.TryReserve(Part, out MemoryReservation? made) ? made : throw new InvalidOperationException();
        }

        Task<MemoryReservation>[] waiting = new Task<MemoryReservation>[2 * Waits];
        for (int i = 0; i < waiting.Length; i++)
        {
            waiting[i] = allocator.ReserveAsync(Part, i < Waits ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(1)).AsTask();
        }

        int next = 0;
        hold(() =>
        {
            inTheWay[next++ % Waits].Dispose();
            try
            {
                _ = allocator.ReserveAsync(Part, TimeSpan.FromMilliseconds(1));
            }
            catch (OutOfMemoryException)
            {
            }
        });

        Array.ForEach(inTheWay, static reservation => reservation.Dispose());
        bool isOver = SpinWait.SpinUntil(
            () =>
            {
                // Read first: what completes meanwhile is disposed in the next round.
                bool areAllCompleted = Array.TrueForAll(waiting, static task => task.IsCompleted);
                foreach (Task<MemoryReservation> task in waiting)
                {
                    if (task.IsCompletedSuccessfully)
                    {
                        task.Result.Dispose();
                    }
                }

                return areAllCompleted;
            },
            s_patience);
        Assert.True(isOver, $"{waiting.Count(static task => !task.IsCompleted)} waits do not end.");

        // What was granted to calls whose result was dropped comes back with a collection.
        WaitFor(() => allocator.GetStatistics().BudgetUsedBytes == 0, [allocator]);
        Assert.True(allocator.TryReserve(Waits * Part, out MemoryReservation? all));
        all.Dispose();
    }

    private static RemoteInvokeOptions Limited()
    {
        RemoteInvokeOptions options = new() { TimeOut = 180_000 + (int)s_exhausted.TotalMilliseconds };

        // Not less: with 48 MiB the collector of .NET 8 and 10 writes, while it grows, to a description of a region on a page that it has
        // not committed, and the process ends (one run in four).
        options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = "0x4000000";
        options.StartInfo.Environment["DOTNET_TieredCompilation"] = "0";
        options.StartInfo.Environment["DOTNET_gcConcurrent"] = "0";
        return options;
    }

    private static MemoryAllocator Create(SafetyMode safety, int? budget) => MemoryAllocator.Create(new MemoryAllocatorOptions
    {
        MaximumPoolSizeMegabytes = 128,
        MemoryBudgetMegabytes = budget,
        TrimPeriod = TimeSpan.FromMilliseconds(50),
        Safety = safety,
        SafetySampleInterval = 2,
        BlockReleasing = static (_, _) => ThrowIfAsked(),
    });

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fill(MemoryAllocator[] all)
    {
        // Retained, quarantined, and what is dropped in the course of the test: buffers, groups, small arrays and reservations.
        foreach (MemoryAllocator allocator in all)
        {
            allocator.AllocateGroup<byte>(4 * Buffer).Dispose();
            Abandon(allocator);
        }

        QueuedWork.Collect();
        for (int i = 0; i < s_dropped.Length; i++)
        {
            MemoryAllocator allocator = all[i % 3];
            s_dropped[i] = (i / 3 % 4) switch
            {
                0 => allocator.Allocate<byte>(Buffer),
                1 => allocator.AllocateGroup<byte>(2 * Buffer),
                2 => all[2].Allocate<byte>(1000 + i),
                _ => all[2].ReserveAsync(100_000).AsTask().GetAwaiter().GetResult(),
            };
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(Buffer));

    private static void ThrowIfAsked()
    {
        if (s_throws)
        {
            throw new InvalidOperationException("A callback's own fault.");
        }
    }

    private static void WaitFor(Func<bool> condition, MemoryAllocator[] all)
    {
        bool isMet = SpinWait.SpinUntil(
            () =>
            {
                QueuedWork.Collect();
                return condition();
            },
            s_patience);
        Assert.True(isMet, string.Join('\n', all.Select(static allocator => allocator.GetStatistics())));
    }
}

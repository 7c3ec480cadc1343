using System.Globalization;
using Measuring.Cgroups;

namespace Allocator.Tests.Limits;

/// <summary>
/// What the library does on its own account in a process that may start no thread, or open no file, under a container's limit and a
/// budget. <c>ALLOCATOR_EXHAUSTED_SECONDS</c> says how long; the nightly run takes half a minute.
/// </summary>
public sealed class ExhaustedProcessTests
{
    private const int Buffer = 3 << 20;
    private const int BudgetMegabytes = 64;
    private const long ContainerLimit = 300L << 20;
    private const string Tasks = "/sys/fs/cgroup/pids";

    // RLIMIT_NOFILE
    private const int FilesResource = 7;
    private const int MostFiles = 256;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    /// <summary>Gets how long a process is kept without what it needs.</summary>
    public static TimeSpan Duration => TimeSpan.FromSeconds(
        int.TryParse(Environment.GetEnvironmentVariable("ALLOCATOR_EXHAUSTED_SECONDS"), CultureInfo.InvariantCulture, out int seconds)
            ? seconds
            : 2);

    // Without waits the thread pool has no thread either. A timer of the runtime's needs one for its first tick, and ends the process.
    [SkippableTheory]
    [InlineData(true)]
    [InlineData(false)]
    public void Use_NoThreadCanBeStarted_ProcessLivesTrimsAndEndsWaits(bool waits)
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(ContainerLimit);
        Skip.IfNot(File.Exists(Path.Combine(Tasks, CgroupFiles.Processes)), "Needs the pids controller of cgroups, version 1.");
        string tasks = Path.Combine(Tasks, $"allocator-test-{Environment.ProcessId}");
        Directory.CreateDirectory(tasks);
        try
        {
            RemoteExecutor.Invoke(
                static (folder, tasks, waits) => UseExhausted(folder, bool.Parse(waits), () =>
                {
                    TestCgroup.Enter(tasks);
                    File.WriteAllText(Path.Combine(tasks, "pids.max"), File.ReadAllText(Path.Combine(tasks, "pids.current")));
                    Assert.ThrowsAny<Exception>(static () => new Thread(static () => { }).Start());
                    return null;
                }),
                group.Folder, tasks, waits.ToString(), Options()).Dispose();
        }
        finally
        {
            Directory.Delete(tasks);
        }

        Assert.Equal(0, group.Kills);
    }

    [SkippableFact]
    public void Use_NoFileCanBeOpened_ProcessLivesTrimsAndEndsWaits()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(ContainerLimit);
        RemoteExecutor.Invoke(
            static folder => UseExhausted(folder, waits: true, static () =>
            {
                Assert.Equal(0, SetLimit(FilesResource, [MostFiles, MostFiles]));
                List<FileStream> open = [];
                Assert.ThrowsAny<IOException>(void () =>
                {
                    while (true)
                    {
                        open.Add(File.OpenRead("/dev/null"));
                    }
                });
                return open;
            }),
            group.Folder, Options()).Dispose();
        Assert.Equal(0, group.Kills);
    }

    // What the process needs of the runtime it has used once before.
    private static void UseExhausted(string folder, bool waits, Func<List<FileStream>?> exhaust)
    {
        TestCgroup.Enter(folder);
        using MemoryAllocator limited = Create(null);
        using MemoryAllocator budgeted = Create(BudgetMegabytes);
        Use(limited, budgeted, waits, TimeSpan.FromSeconds(waits ? 1 : 0));
        if (waits)
        {
            // Waits are completed on the thread pool.
            QueuedWork.StartPoolThreads();
        }

        List<FileStream>? open = exhaust();
        try
        {
            (int abandoned, int refused) = Use(limited, budgeted, waits, Duration);
            Assert.True(abandoned > 0 && refused > 0 == waits, $"{abandoned} abandoned, {refused} waits ended: nothing was tried.");
            Assert.True(
                SpinWait.SpinUntil(() => IsBack(limited) && IsBack(budgeted), s_patience),
                $"{limited.GetStatistics()}\n{budgeted.GetStatistics()}");
        }
        finally
        {
            // What fails is written to a file.
            open?.ForEach(static file => file.Dispose());
        }

        Assert.True(budgeted.TryReserve((long)BudgetMegabytes << 20, out MemoryReservation? all));
        all.Dispose();
    }

    private static (int Abandoned, int Refused) Use(
        MemoryAllocator limited, MemoryAllocator budgeted, bool waits, TimeSpan duration)
    {
        int abandoned = 0;
        int refused = 0;
        long end = Environment.TickCount64 + (long)duration.TotalMilliseconds;
        do
        {
            foreach (MemoryAllocator allocator in new[] { limited, budgeted })
            {
                try
                {
                    allocator.AllocateGroup<byte>(4 * Buffer).Dispose();
                    allocator.Allocate<byte>(100_000).Dispose();
                    Abandon(allocator);
                    abandoned++;
                }
                catch (Exception exception) when (exception is MemoryLimitExceededException or OutOfMemoryException)
                {
                    // What was abandoned counts until it is found; and the runtime throws where it can start no thread for its compiler.
                }
            }

            // A part, beside which all cannot be had: most of it may be abandoned, and not found yet.
            try
            {
                // A part, beside which all cannot be had: most of it may be abandoned, and not found yet.
                if (waits && budgeted.TryReserve(Buffer, out MemoryReservation? part))
                {
                    using MemoryReservation taken = part;
                    Task<MemoryReservation> wait =
                        budgeted.ReserveAsync((long)BudgetMegabytes << 20, TimeSpan.FromMilliseconds(20)).AsTask();
                    Assert.True(Task.WhenAny(wait).Wait(s_patience), "A wait with a time has not ended.");
                    refused += wait.IsFaulted ? 1 : 0;
                }
            }
            catch (OutOfMemoryException)
            {
                // Any call may throw it where the runtime can start no thread for its compiler.
            }

            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        while (Environment.TickCount64 < end);
        return (abandoned, refused);
    }

    private static bool IsBack(MemoryAllocator allocator)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return allocator.GetStatistics() is
        {
            CommittedBytes: 0,
            QuarantinedBytes: 0,
            OutstandingAllocations: 0,
            BudgetUsedBytes: 0,
        };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(Buffer));

    private static MemoryAllocator Create(int? budget) => MemoryAllocator.Create(new MemoryAllocatorOptions
    {
        MemoryBudgetMegabytes = budget,
        TrimPeriod = TimeSpan.FromMilliseconds(50),
        BlockReleasing = static (_, _) => { },
    });

    private static RemoteInvokeOptions Options()
    {
        RemoteInvokeOptions options = new() { TimeOut = 120_000 + (int)Duration.TotalMilliseconds };
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";

        // The runtime's compiler starts a thread now and then; if it cannot, the runtime throws out of any call, of a finalizer too.
        options.StartInfo.Environment["DOTNET_TieredCompilation"] = "0";
        return options;
    }

    [DllImport("libc", EntryPoint = "setrlimit")]
    private static extern int SetLimit(int resource, [In] nuint[] softAndHard);
}

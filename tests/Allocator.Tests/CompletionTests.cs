namespace Allocator.Tests;

/// <summary>
/// Waits end whatever the code after another wait does: none of it runs on a thread of the library. In processes of their own.
/// </summary>
public class CompletionTests
{
    private const int Quarter = 1 << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    // Each runs the code after an await inline, or on its way there, wherever the wait is completed.
    private static readonly Dictionary<string, Func<Action, Task>> s_flows = new()
    {
        ["context"] = static continuation => Begin(static run => run(), new InlineContext(), continuation),
        ["scheduler"] = static continuation => Begin(RunOnInlineScheduler, context: null, continuation),
        ["handler"] = static continuation =>
        {
            // It is told when a thread takes on the flow. The first time is behind the wait.
            int calls = 0;
            AsyncLocal<bool> local = new(change =>
            {
                if (change is { ThreadContextChanged: true, CurrentValue: true } && Interlocked.Increment(ref calls) == 1)
                {
                    continuation();
                }
            });
            return Begin(
                run =>
                {
                    local.Value = true;
                    run();
                },
                context: null,
                static () => { });
        },
    };

    private static MemoryAllocator? s_full;
    private static MemoryReservation? s_quarter;

    [Theory]
    [InlineData("context")]
    [InlineData("scheduler")]
    [InlineData("handler")]
    public void ReserveAsync_CodeAfterAnotherWaitBlocks_EndsInTime(string flow) => RemoteExecutor.Invoke(
        static flow =>
        {
            FillBudget();
            using ManualResetEventSlim begun = new();
            using ManualResetEventSlim mayEnd = new();
            Task blocked = s_flows[flow](() =>
            {
                begun.Set();
                mayEnd.Wait();
            });
            Assert.True(begun.Wait(s_patience), "The first wait does not end.");
            ExpectRefusal(s_full!.ReserveAsync(Quarter, TimeSpan.FromMilliseconds(20)));
            mayEnd.Set();
            Assert.True(blocked.Wait(s_patience));
        },
        flow).Dispose();

    [Theory]
    [InlineData("context")]
    [InlineData("scheduler")]
    [InlineData("handler")]
    public void ReserveAsync_CodeAfterAnotherWaitWaitsForIt_EndsInTime(string flow) => RemoteExecutor.Invoke(
        static flow =>
        {
            FillBudget();
            Exception? failure = null;
            using ManualResetEventSlim ended = new();
            Task first = s_flows[flow](() =>
            {
                failure = Record.Exception(static () => ExpectRefusal(s_full!.ReserveAsync(Quarter, TimeSpan.FromMilliseconds(20))));
                ended.Set();
            });
            Assert.True(ended.Wait(2 * s_patience), "The second wait does not end.");
            Assert.Null(failure);
            Assert.True(first.Wait(s_patience));
        },
        flow).Dispose();

    // The job holds what they wait for, and is resumed although no thread of the pool is free.
    [Theory]
    [InlineData("ReserveAsync")]
    [InlineData("ReserveAsync with a time")]
    [InlineData("AllocateAsync")]
    [InlineData("GrowAsync")]
    public void Wait_AllThreadsOfThePoolWaitForWhatAnotherJobHolds_JobGoesOn(string wait) => RemoteExecutor.Invoke(
        static wait =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
            Assert.True(allocator.TryReserve(4 * Quarter, out MemoryReservation? held));
            Task job = Task.Run(() => HoldAsync(allocator, wait));
            Assert.True(SpinWait.SpinUntil(() => allocator.GetStatistics().BudgetWaits == 1, s_patience));
            int threads = Environment.ProcessorCount;
            Assert.True(ThreadPool.SetMaxThreads(threads, threads));
            Task[] blocked = new Task[threads];
            for (int i = 0; i < threads; i++)
            {
                blocked[i] = Task.Run(() => allocator.ReserveAsync(4 * Quarter).AsTask().GetAwaiter().GetResult().Dispose());
            }

            Assert.True(SpinWait.SpinUntil(() => allocator.GetStatistics().BudgetWaits == 1 + threads, s_patience));
            held.Dispose();
            Assert.True(job.Wait(s_patience), "The job that holds the memory is not resumed.");
            Assert.True(Task.WaitAll(blocked, s_patience));
            Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
        },
        wait).Dispose();

    private static async Task HoldAsync(MemoryAllocator allocator, string wait)
    {
        using MemoryReservation? grows = wait == "GrowAsync" && allocator.TryReserve(0, out MemoryReservation? made) ? made : null;
        if (grows is not null)
        {
            await grows.GrowAsync(4 * Quarter).ConfigureAwait(false);
            return;
        }

        using IDisposable memory = wait switch
        {
            "ReserveAsync" => await allocator.ReserveAsync(4 * Quarter).ConfigureAwait(false),
            "AllocateAsync" => await allocator.AllocateAsync<byte>(4 * Quarter).ConfigureAwait(false),
            _ => await allocator.ReserveAsync(4 * Quarter, TimeSpan.FromHours(1)).ConfigureAwait(false),
        };
    }

    // For the life of the process, so that each further request waits.
    private static void FillBudget()
    {
        s_full = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
        GC.SuppressFinalize(s_full.ReserveAsync(3 * Quarter).AsTask().Result);
        s_quarter = s_full.ReserveAsync(Quarter).AsTask().Result;
    }

    // On a thread of its own, so that the flow's own thread is none of the pool nor of the library.
    private static Task Begin(Action<Action> around, SynchronizationContext? context, Action continuation)
    {
        Task waiting = Task.CompletedTask;
        Thread thread = new(() =>
        {
            SynchronizationContext.SetSynchronizationContext(context);
            around(() => waiting = WaitAsync());
        });
        thread.Start();
        thread.Join();
        s_quarter!.Dispose();
        return waiting;

        async Task WaitAsync()
        {
            using MemoryReservation quarter = await s_full!.ReserveAsync(Quarter, TimeSpan.FromHours(1));
            continuation();
        }
    }

    private static void RunOnInlineScheduler(Action action) =>
        Task.Factory.StartNew(action, CancellationToken.None, TaskCreationOptions.None, new InlineScheduler()).Wait();

    private static void ExpectRefusal(ValueTask<MemoryReservation> waiting)
    {
        Task<MemoryReservation> task = waiting.AsTask();
        AggregateException failure = Assert.Throws<AggregateException>(() => task.Wait(s_patience));
        Assert.IsType<MemoryLimitExceededException>(failure.InnerException);
    }

    private sealed class InlineContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => d(state);
    }

    private sealed class InlineScheduler : TaskScheduler
    {
        protected override void QueueTask(Task task) => TryExecuteTask(task);

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => TryExecuteTask(task);

        protected override IEnumerable<Task> GetScheduledTasks() => [];
    }
}

using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using Allocator.Allocators;
using Allocator.Tests.Diagnostics;
using Allocator.Trimming;

namespace Allocator.Tests;

/// <summary>
/// What the library does on its own account, where each of its places fails. In processes of their own: the thread pool's queue is
/// replaced.
/// </summary>
public class BackgroundTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Queue_ThreadPoolWithoutMemory_IsDoneAtARetry() => RemoteExecutor.Invoke(static () =>
    {
        Recorded first = new(failures: 0);
        Recorded second = new(failures: 3);
        RefuseQueue(times: 4);
        Background.Queue(first);
        Background.Queue(second);

        // Twice in the list would be a list without an end.
        Background.Queue(first);
        Assert.True(SpinWait.SpinUntil(() => first.Runs >= 1 && second.Runs == 1, s_patience));
        Assert.Equal(3, second.Failures);
        Assert.InRange(first.Runs, 1, 2);
    }).Dispose();

    [Fact]
    public void Run_Throws_NothingEscapesAndItIsRunAgain() => RemoteExecutor.Invoke(static () =>
    {
        Recorded work = new(failures: 2);
        Background.Run(work);
        Assert.Equal(1, work.Failures);
        Assert.True(SpinWait.SpinUntil(() => work.Runs == 1, s_patience));
        Assert.Equal(2, work.Failures);
    }).Dispose();

    [Fact]
    public void Queue_FailsAfterItQueued_MemoryGoesBackOnce() => RemoteExecutor.Invoke(static () =>
    {
        // The thread pool has the item in its queue before it makes the thread that it lacks.
        ConcurrentQueue<(WaitCallback Work, object? State)> queued = [];
        Background.Prepare();
        using TestSetup setup = new(1, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse, ClearOnReturn = true });
        MemoryDiagnostics.LeakDetection = LeakDetection.Off;
        Background.ThreadPoolQueue = (work, state) =>
        {
            queued.Enqueue((work, state));
            throw new OutOfMemoryException();
        };
        AbandonOne(setup.Allocator);
        Collect();
        Assert.True(SpinWait.SpinUntil(() => queued.Count >= 2, s_patience));
        Assert.True(queued.TryDequeue(out (WaitCallback Work, object? State) item));
        item.Work(item.State);
        while (setup.Statistics.RetainedBytes == 0 && queued.TryDequeue(out item))
        {
            item.Work(item.State);
        }

        using IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(Block);
        Assert.True(SpinWait.SpinUntil(() => !queued.IsEmpty, s_patience));
        while (queued.TryDequeue(out item))
        {
            item.Work(item.State);
        }

        using IMemoryOwner<byte> second = setup.Allocator.Allocate<byte>(Block);
        Assert.False(first.Memory.Span.Overlaps(second.Memory.Span), "Two renters have the same block.");
    }).Dispose();

    [Theory]
    [InlineData(AbandonedMemory.Reuse)]
    [InlineData(AbandonedMemory.Quarantine)]
    public void Finalizers_ThreadPoolWithoutMemory_LoseNothing(AbandonedMemory abandoned) => RemoteExecutor.Invoke(
        static text =>
        {
            AbandonedMemory abandoned = Enum.Parse<AbandonedMemory>(text);
            int reports = 0;
            MemoryDiagnostics.AllocationAbandoned += (_, _) => Interlocked.Increment(ref reports);
            using TestSetup setup = new(16, new MemoryAllocatorOptions { Abandoned = abandoned }, budget: 100 * Block);
            RefuseQueue(times: 20);
            Abandon(setup.Allocator);
            Collect();
            Collect();
            setup.Clock.Advance(TimeSpan.FromMinutes(2));
            Assert.True(SpinWait.SpinUntil(
                () =>
                {
                    setup.Clock.Advance(TimeSpan.FromMinutes(1));
                    Collect();
                    return setup.Statistics is { QuarantinedBytes: 0, OutstandingAllocations: 0, RentedBytes: 0, BudgetUsedBytes: 0 }
                        && setup.Source.LiveAllocations == 0
                        && setup.AllIsIdle;
                },
                s_patience));
            Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref reports) == 4, s_patience));
            setup.Allocator.AllocateGroup<byte>(16 * Block).Dispose();
        },
        abandoned.ToString()).Dispose();

    [Fact]
    public void DroppedAllocator_ThreadPoolWithoutMemory_IsClosedAtARetry() => RemoteExecutor.Invoke(static () =>
    {
        TestSetup time = new(1);
        FakeMemorySource source = Drop(time);
        RefuseQueue(times: 3);
        Collect();
        Assert.True(SpinWait.SpinUntil(() => source.LiveReservations == 0, s_patience));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static FakeMemorySource Drop(TestSetup time)
        {
            TestSetup setup = new(16, sharesTimeWith: time);
            setup.Allocator.Allocate<byte>(Block).Dispose();
            return setup.Source;
        }
    }).Dispose();

    [Fact]
    public void Tick_OnePoolFails_TheOthersAndTheQuarantineHaveTheirTurnAndTicksGoOn() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup failing = new(16);
        using TestSetup other = new(16, sharesTimeWith: failing);
        failing.Allocator.Allocate<byte>(Block).Dispose();
        other.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        AbandonOne(other.Allocator);
        Collect();
        Collect();
        failing.Source.OnPurge = static () => throw new OutOfMemoryException();
        failing.Clock.Advance(TimeSpan.FromMinutes(10));
        Assert.Equal((0L, 0L), (other.Statistics.QuarantinedBytes, other.Statistics.RetainedBytes));
        Assert.Equal(Block, failing.Statistics.CommittedBytes);

        failing.Source.OnPurge = null;
        failing.Clock.Advance(TimeSpan.FromMinutes(3));
        Assert.Equal(0, failing.Clock.RunningTimers);
    }).Dispose();

    [Fact]
    public void Quarantine_ClosedDuringATick_LeavesWhatStaysToFinalizers() => RemoteExecutor.Invoke(static () =>
    {
        // A mapping each. The second, which is looked at first, goes back; while that happens the load context begins to unload, and the
        // first has not stayed long enough.
        using TestSetup longer = new(0, new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMinutes(10) });
        using TestSetup setup = new(0, new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMinutes(1) }, sharesTimeWith: longer);
        AbandonOne(longer.Allocator);
        Collect();
        AbandonOne(setup.Allocator);
        Collect();
        Collect();
        Assert.Equal((1, 1), (longer.Source.LiveAllocations, setup.Source.LiveAllocations));
        setup.Source.OnFree = setup.Scheduler.Close;
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        setup.Source.OnFree = null;
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                Collect();
                return setup.Source.LiveAllocations + longer.Source.LiveAllocations == 0;
            },
            s_patience));
    }).Dispose();

    [Fact]
    public void Tick_LoadCannotBeRead_IsTakenToBeLow()
    {
        using TestSetup setup = new(16, pressure: new FailingPressure());
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal(4 * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Timer_TickFails_IsRunAgain() => RemoteExecutor.Invoke(static () =>
    {
        FakeClock clock = new();
        int failures = 3;
        using MemoryAllocator allocator = new PooledMemoryAllocator(new AllocatorSettings(new MemoryAllocatorOptions())
        {
            Clock = clock,
            Scheduler = new TrimScheduler(
                clock,
                static () => { },
                watchesCollections: false,
                () =>
                    Interlocked.Decrement(ref failures) >= 0
                        ? throw new OutOfMemoryException()
                        : System.Runtime.GCLatencyMode.Interactive),
        });
        allocator.Allocate<byte>(4 << 20).Dispose();
        clock.Advance(TimeSpan.FromMinutes(1));

        // Nothing moves the clock: the retry sets the timer.
        Assert.True(SpinWait.SpinUntil(() => clock.RunningTimers == 1, s_patience));
    }).Dispose();

    [Fact]
    public void Handlers_Throw_EachIsAnEvent() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16);
        using AllocatorEventListener listener = new(EventLevel.Warning, EventKeywords.None);
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => throw new NotSupportedException("first");
        MemoryDiagnostics.LeakFound += static (_, _) => throw new UnspeakableException();
        MemoryDiagnostics.LeakFound += static (_, _) => throw new NotSupportedException("second");
        AbandonOne(setup.Allocator);
        Collect();
        List<EventWrittenEventArgs> events = [.. Enumerable.Range(0, 4).Select(_ => listener.Take())];
        Assert.Equal(
            ["AllocationAbandoned", "CallbackFailed", "LeakFound", "CallbackFailed"], events.Select(static written => written.EventName));
        Assert.Equal(["AllocationAbandoned", "System.NotSupportedException", "first"], events[1].Payload!);

        // The message of the one in between throws; the others are reported all the same.
        Assert.Equal(["LeakFound", "System.NotSupportedException", "second"], events[3].Payload!);
    }).Dispose();

    // Queueing fails, as without managed memory, so many times.
    [Fact]
    public void Tick_CompletionThatWasKept_TicksGoOnUntilItIsDone() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(budget: Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(Block).AsTask();
        RefuseQueue(int.MaxValue);
        held.Dispose();
        setup.Allocator.ReleaseRetainedResources();
        setup.Clock.Advance(TimeSpan.FromMinutes(3));
        Assert.Equal((0, false, true), (setup.Statistics.CommittedBytes, waiting.IsCompleted, setup.Scheduler.IsRunning));
        RefuseQueue(0);
        setup.Clock.Advance(TimeSpan.FromMinutes(3));
        Assert.True(SpinWait.SpinUntil(() => waiting.IsCompleted, s_patience));
    }).Dispose();

    private static void RefuseQueue(int times)
    {
        Background.Prepare();
        Background.ThreadPoolQueue = (work, state) =>
            Interlocked.Decrement(ref times) >= 0 ? throw new OutOfMemoryException() : ThreadPool.UnsafeQueueUserWorkItem(work, state);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(MemoryAllocator allocator)
    {
        AbandonOne(allocator);
        GC.KeepAlive(allocator.Allocate<byte>(30 * Block));
        GC.KeepAlive(allocator.AllocateGroup<byte>(20 * Block));
        GC.KeepAlive(allocator.Allocate<byte>(100));
        GC.KeepAlive(allocator.ReserveAsync(Block).AsTask().Result);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonOne(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(Block));

    private static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    private sealed class FailingPressure : SystemMemory
    {
        protected override SystemReading ReadSystem(bool looksForLimits) => throw new OutOfMemoryException();
    }

    private sealed class UnspeakableException : Exception
    {
        public override string Message => throw new InvalidOperationException();
    }

    private sealed class Recorded : IBackgroundWork
    {
        private readonly int _failuresWanted;
        private BackgroundState _state;
        private int _calls;
        private int _runs;

        public Recorded(int failures) => _failuresWanted = failures;

        public int Failures => Math.Min(_calls, _failuresWanted);

        public int Runs => Volatile.Read(ref _runs);

        public ref BackgroundState State => ref _state;

        public void DoWork()
        {
            if (Interlocked.Increment(ref _calls) <= _failuresWanted)
            {
                throw new InvalidOperationException("Not yet.");
            }

            Interlocked.Increment(ref _runs);
        }
    }
}

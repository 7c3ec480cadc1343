using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Runtime;
using Allocator.Allocators;
using Allocator.Tests.Diagnostics;
using Allocator.Trimming;

namespace Allocator.Tests;

/// <summary>What the library does on its own account, where each of its places fails. In processes of their own.</summary>
public class BackgroundThreadTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Queue_WorkThrows_IsRunAgainAndNothingEscapes() => RemoteExecutor.Invoke(static () =>
    {
        BackgroundThread thread = new("Test");
        thread.Start();
        Recorded work = new(failures: 2);
        Recorded other = new(failures: 0);
        thread.Queue(work);
        thread.Queue(other);
        Assert.True(SpinWait.SpinUntil(() => other.Runs == 1 && work.Failures == 1, s_patience));
        Assert.Equal(0, work.Runs);
        Assert.True(SpinWait.SpinUntil(() => work.Runs == 1, s_patience));
        Assert.Equal(2, work.Failures);
        thread.Close();
    }).Dispose();

    [Fact]
    public void RunBy_AnyOrder_RunsInOrderOfTimeAndOnce()
    {
        BackgroundList list = new();
        List<Recorded> all = [.. Enumerable.Range(0, 20).Select(static _ => new Recorded(failures: 0))];
        for (int i = 0; i < all.Count; i++)
        {
            list.Add(all[i * 7 % 20], (i * 7 % 20) / 2);
        }

        BackgroundList.Remove(all[3]);
        BackgroundList.Remove(all[3]);
        BackgroundList.Remove(all[19]);
        List<long> dues = [];
        List<Recorded> order = [];
        while (list.First is Recorded first)
        {
            order.Add(first);
            dues.Add(first.State.Due);
            BackgroundList.Remove(first);
        }

        Assert.Equal(dues.Order(), dues);
        Assert.Equal(all.Except([all[3], all[19]]).ToHashSet(), order.ToHashSet());
        Assert.Equal(18, order.Count);
        Assert.All(all, static work => Assert.Null(work.State.Next));
    }

    [Fact]
    public void RunBy_Twice_EarlierTimeCountsAndCancelEndsBoth() => RemoteExecutor.Invoke(static () =>
    {
        BackgroundThread thread = new("Test");
        thread.Start();
        Recorded work = new(failures: 0);
        Recorded cancelled = new(failures: 0);

        // The library's own: its asset for netstandard2.0 reads another one than .NET does, of another resolution.
        Clock clock = SystemClock.Instance;
        long now = clock.NowMilliseconds;
        thread.RunBy(cancelled, now + 1_000_000_000);
        thread.Cancel(cancelled);
        Assert.Null(cancelled.State.Next);
        thread.RunBy(work, now + 1_000_000_000);
        thread.RunBy(work, now + 50);
        thread.RunBy(work, now + 2_000_000_000);
        Assert.True(SpinWait.SpinUntil(() => work.Runs == 1, s_patience));
        Assert.InRange(clock.NowMilliseconds - now, 49, long.MaxValue);
        thread.Close();
    }).Dispose();

    [Fact]
    public void Thread_FromFirstMemoryToLastAllocator_IsAlive() => RemoteExecutor.Invoke(static () =>
    {
        MemoryAllocator first = MemoryAllocator.Create(new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(50) });
        Assert.False(BackgroundThread.Shared.IsRunning);
        first.Allocate<byte>(3 << 20).Dispose();
        Assert.True(BackgroundThread.Shared.IsRunning);
        Assert.False(UserCallbacks.Thread.IsRunning);
        MemoryAllocator second = MemoryAllocator.Create(new MemoryAllocatorOptions { BlockReleasing = static (_, _) => { } });
        Assert.True(UserCallbacks.Thread.IsRunning);
        first.Dispose();
        Assert.False(SpinWait.SpinUntil(static () => !BackgroundThread.Shared.IsRunning, TimeSpan.FromSeconds(3)), "One lives.");
        second.Dispose();
        Assert.True(SpinWait.SpinUntil(static () => !BackgroundThread.Shared.IsRunning && !UserCallbacks.Thread.IsRunning, s_patience));

        using MemoryAllocator third = MemoryAllocator.Create();
        using IMemoryOwner<byte> owner = third.Allocate<byte>(3 << 20);
        Assert.True(BackgroundThread.Shared.IsRunning);
    }).Dispose();

    // An array of exact length, because one of the next power of two would be above the limit.
    [Fact]
    public void Thread_FirstMemoryIsAnArrayOfExactLength_IsAlive() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 100 });
        byte[] array = allocator.AsArrayPool().Rent(70 << 20);
        Assert.Equal(70 << 20, array.Length);
        Assert.True(BackgroundThread.Shared.IsRunning);
        allocator.AsArrayPool().Return(array);
    }).Dispose();

    // .NET, Mono, and .NET on Mono.
    [Theory]
    [InlineData(typeof(OutOfMemoryException))]
    [InlineData(typeof(SystemException))]
    [InlineData(typeof(ThreadStateException))]
    public void Rent_NoThreadCanBeCreated_TrimsAtRentsAndCreatesOneLater(Type failure) => RemoteExecutor.Invoke(static name =>
    {
        int attempts = 0;
        Action<Thread> starter = BackgroundThread.Starter;
        BackgroundThread.Starter = _ =>
        {
            attempts++;
            throw (Exception)Activator.CreateInstance(Type.GetType(name)!)!;
        };
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64, TrimPeriod = TimeSpan.FromMilliseconds(20) });
        allocator.AllocateGroup<byte>(40 << 20).Dispose();
        Abandon(allocator);
        QueuedWork.Collect();
        Assert.NotEqual(0, allocator.GetStatistics().QuarantinedBytes);
        Stopwatch elapsed = Stopwatch.StartNew();
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                // New memory each time.
                allocator.Allocate<byte>(70 << 20).Dispose();
                QueuedWork.Collect();
                return allocator.GetStatistics() is { QuarantinedBytes: 0, RetainedBytes: 0, RentedBytes: 0 };
            },
            s_patience));
        Assert.InRange(attempts, 2, elapsed.Elapsed.TotalSeconds + 2);
        Assert.False(BackgroundThread.Shared.IsRunning);
        BackgroundThread.Starter = starter;
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                allocator.Allocate<byte>(70 << 20).Dispose();
                return BackgroundThread.Shared.IsRunning;
            },
            s_patience));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Abandon(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(3 << 20));
    }, failure.AssemblyQualifiedName!).Dispose();

    [Fact]
    public void ReserveAsync_NoThreadCanBeMade_IsRefusedBeforeItWaits() => RemoteExecutor.Invoke(static () =>
    {
        BackgroundThread.Starter = static _ => throw new OutOfMemoryException("No thread.");
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
        Assert.True(allocator.TryReserve(4 << 20, out MemoryReservation? held));
        Task<MemoryReservation> refused = allocator.ReserveAsync(1 << 20, TimeSpan.FromHours(1)).AsTask();
        Assert.IsType<OutOfMemoryException>(refused.Exception!.InnerException);
        Assert.Equal(0, allocator.GetStatistics().BudgetWaits);
        held.Dispose();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }).Dispose();

    // The one that does what is due may stand in a callback that blocks.
    [Fact]
    public void Ensure_AnotherCallerDoesTheDueWork_DoesNotWaitForIt() => RemoteExecutor.Invoke(static () =>
    {
        BackgroundThread.Starter = static _ => throw new OutOfMemoryException("No thread.");
        BackgroundThread thread = new("Test");
        thread.Ensure();
        using ManualResetEventSlim begun = new();
        using ManualResetEventSlim mayEnd = new();
        thread.Queue(new MemoryDiagnostics.Notice(_ =>
        {
            begun.Set();
            mayEnd.Wait();
        }));
        Thread[] callers = [new(EnsureUntilItBegins), new(EnsureForASecond)];
        callers[0].Start();
        Assert.True(begun.Wait(s_patience));
        callers[1].Start();
        Assert.True(callers[1].Join(s_patience));
        mayEnd.Set();
        Assert.True(callers[0].Join(s_patience));

        // It tries once a second.
        void EnsureForASecond()
        {
            for (long end = Environment.TickCount64 + 1500; Environment.TickCount64 < end;)
            {
                thread.Ensure();
            }
        }

        void EnsureUntilItBegins() => SpinWait.SpinUntil(
            () =>
            {
                thread.Ensure();
                return begun.IsSet;
            },
            s_patience);
    }).Dispose();

    [Fact]
    public void Queue_Closed_IsRunByTheCaller() => RemoteExecutor.Invoke(static () =>
    {
        BackgroundThread thread = new("Test");
        thread.Start();
        thread.Close();
        Recorded work = new(failures: 1);
        thread.Queue(work);
        thread.Queue(work);
        Assert.Equal(1, work.Runs);
        thread.Start();
        Assert.False(thread.IsRunning);
    }).Dispose();

    // The times of waits, ticks and other pools go on; and an event says what blocks.
    [Fact]
    public void Hook_BlocksForEver_OthersAreTrimmedWaitsEndInTimeAndAnEventNamesIt() => RemoteExecutor.Invoke(static () =>
    {
        using AllocatorEventListener listener = new(EventLevel.Warning, EventKeywords.None);
        using ManualResetEventSlim mayGoOn = new();
        TimeSpan period = TimeSpan.FromMilliseconds(20);
        using MemoryAllocator blocked = MemoryAllocator.Create(
            new MemoryAllocatorOptions { TrimPeriod = period, BlockReleasing = (_, _) => mayGoOn.Wait() });
        using MemoryAllocator other = MemoryAllocator.Create(
            new MemoryAllocatorOptions { TrimPeriod = period, MemoryBudgetMegabytes = 64 });
        blocked.Allocate<byte>(3 << 20).Dispose();
        EventWrittenEventArgs slow = listener.Take();
        Assert.Equal((14, "CallbackSlow"), (slow.EventId, slow.EventName));
        Assert.Equal("BlockReleasing", slow.Payload![1]);
        Assert.InRange((long)slow.Payload[0]!, 1000, long.MaxValue);

        other.AllocateGroup<byte>(40 << 20).Dispose();
        Assert.True(SpinWait.SpinUntil(() => other.GetStatistics().CommittedBytes == 0, s_patience));
        Assert.True(other.TryReserve(64 << 20, out MemoryReservation? all));
        Task<MemoryReservation> waiting = other.ReserveAsync(1, period).AsTask();
        Assert.True(Assert.Throws<AggregateException>(() => waiting.Wait(s_patience)).InnerException is MemoryLimitExceededException);
        all.Dispose();
        mayGoOn.Set();
        Assert.True(SpinWait.SpinUntil(() => blocked.GetStatistics().CommittedBytes == 0, s_patience));
    }).Dispose();

    // A request that waits asks for the trim of malloc's memory.
    [Fact]
    public void Post_NativeHeapTrimBlocks_WaitsTicksAndCompletionsContinue() => RemoteExecutor.Invoke(static () =>
    {
        using ManualResetEventSlim begun = new();
        using ManualResetEventSlim mayEnd = new();
        bool isLong = false;
        NativeHeapTrimmer trimmer = new(
            SystemClock.Instance,
            () =>
            {
                isLong = BackgroundThread.Long.IsCurrent;
                begun.Set();
                return mayEnd.Wait(s_patience);
            },
            static () => 0);
        TimeSpan period = TimeSpan.FromMilliseconds(20);
        using MemoryAllocator allocator = new PooledMemoryAllocator(
            new AllocatorSettings(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, TrimPeriod = period })
            {
                HeapTrimmer = trimmer,
            });
        allocator.AllocateGroup<byte>(40 << 20).Dispose();
        Assert.True(allocator.TryReserve(64 << 20, out MemoryReservation? all));
        Task<MemoryReservation> granted = allocator.ReserveAsync(1).AsTask();
        Assert.True(begun.Wait(s_patience));
        Assert.True(isLong, "It is trimmed on the thread that ends waits.");

        Task<MemoryReservation> refused = allocator.ReserveAsync(1, period).AsTask();
        Assert.True(Assert.Throws<AggregateException>(() => refused.Wait(s_patience)).InnerException is MemoryLimitExceededException);
        Assert.True(SpinWait.SpinUntil(() => allocator.GetStatistics().CommittedBytes == 0, s_patience), "No tick.");
        all.Dispose();
        Assert.True(granted.Wait(s_patience), "It is not completed.");
        granted.Result.Dispose();
        mayEnd.Set();
    }).Dispose();

    [Fact]
    public void RunLong_OnTheThreadThatEndsWaits_RunsOnTheLongThread() => RemoteExecutor.Invoke(static () =>
    {
        using ManualResetEventSlim begun = new();
        using ManualResetEventSlim mayEnd = new();
        using ManualResetEventSlim ended = new();
        MemoryDiagnostics.Notice work = new(_ =>
        {
            begun.Set();
            Assert.True(BackgroundThread.Long.IsCurrent && mayEnd.Wait(s_patience));
            ended.Set();
        });
        BackgroundThread.Shared.Start();
        BackgroundThread.Long.Start();
        BackgroundThread.Shared.Queue(new MemoryDiagnostics.Notice(_ => BackgroundThread.RunLong(work)));
        Assert.True(begun.Wait(s_patience));
        QueuedWork.WaitForThreads();
        mayEnd.Set();
        Assert.True(ended.Wait(s_patience));

        // A caller of its own waits for it.
        Recorded own = new(failures: 0);
        BackgroundThread.RunLong(own);
        Assert.Equal(1, own.Runs);
    }).Dispose();

    // Nothing here asks for a collection, nor does the option.
    [SkippableTheory]
    [InlineData(true)]
    [InlineData(false)]
    public void Quarantine_IdleProcess_MemoryIsBackWithinFivePeriods(bool collects)
    {
        Skip.If(GCSettings.LatencyMode == GCLatencyMode.Batch, "None is forced while concurrent collection is off.");
        RemoteExecutor.Invoke(
            static text =>
            {
                bool collects = bool.Parse(text);
                TimeSpan period = TimeSpan.FromSeconds(1);
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { TrimPeriod = period, CollectToFindAbandoned = collects, TrimRate = 1 });
                Leak(allocator);
                Stopwatch elapsed = Stopwatch.StartNew();

                // A timer of the same process counts the periods: on a busy machine it is late, too.
                int periods = 0;
                using Timer timer = new(_ => Interlocked.Increment(ref periods), state: null, period, period);
                if (!collects)
                {
                    GC.Collect();
                }

                Assert.True(SpinWait.SpinUntil(() => allocator.GetStatistics() is { Abandoned: 1, CommittedBytes: 0 }, s_patience));
                Assert.True(elapsed.Elapsed >= period);
                Assert.InRange(Volatile.Read(ref periods), 0, 5);
            },
            collects.ToString()).Dispose();
    }

    [Fact]
    public void DroppedAllocator_ClosingFails_IsClosedAtARetry() => RemoteExecutor.Invoke(static () =>
    {
        TestSetup time = new(1);
        int failures = 1;
        FakeMemorySource source = Drop(time);
        source.OnPurge = () =>
        {
            if (Interlocked.Decrement(ref failures) >= 0)
            {
                throw new OutOfMemoryException();
            }
        };
        QueuedWork.Collect();
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
    public void Tick_OnePoolFails_OthersAreTrimmedAndTicksContinue() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup failing = new(16);
        using TestSetup other = new(16, sharesTimeWith: failing);
        failing.Allocator.Allocate<byte>(Block).Dispose();
        other.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        AbandonOne(other.Allocator);
        QueuedWork.Collect();
        other.Clock.Advance(TimeSpan.FromMinutes(1));
        QueuedWork.Collect();
        failing.Source.OnPurge = static () => throw new OutOfMemoryException();
        failing.Clock.Advance(TimeSpan.FromMinutes(10));
        Assert.Equal((0L, 0L), (other.Statistics.QuarantinedBytes, other.Statistics.RetainedBytes));
        Assert.Equal(Block, failing.Statistics.CommittedBytes);

        failing.Source.OnPurge = null;
        failing.Clock.Advance(TimeSpan.FromMinutes(3));
        Assert.Equal(0, failing.Clock.RunningTimers);
    }).Dispose();

    [Fact]
    public void Tick_LoadCannotBeRead_IsAssumedLow()
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
            Scheduler = new TrimTimer(
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
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => throw new UnspeakableException();
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => throw new NotSupportedException("second");
        AbandonOne(setup.Allocator);
        QueuedWork.Collect();
        List<EventWrittenEventArgs> events = [.. Enumerable.Range(0, 3).Select(_ => listener.Take())];
        Assert.Equal(["AllocationAbandoned", "CallbackFailed", "CallbackFailed"], events.Select(static written => written.EventName));
        Assert.Equal(["AllocationAbandoned", "System.NotSupportedException", "first"], events[1].Payload!);

        // The message of the one in between throws; the others are reported all the same.
        Assert.Equal(["AllocationAbandoned", "System.NotSupportedException", "second"], events[2].Payload!);
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonOne(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(Block));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Leak(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(3 << 20));

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

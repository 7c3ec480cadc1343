using System.Diagnostics.Metrics;

namespace Allocator.Tests;

/// <summary>What happens for the first time while there is no managed memory: it may fail, but not for ever.</summary>
public class ExhaustedMemoryTests
{
    private const int Large = 3 << 20;

    // Of the meter.
    private const int Instruments = 26;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Dispose_FirstWithoutManagedMemory_DoesNotFail() => Run(
        static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            IDisposable owner = allocator.Allocate<byte>(Large);
            Exception? failure = null;
            WithoutMemory(() => owner.Dispose(), ref failure);
            Assert.Null(failure);
            allocator.Allocate<byte>(Large).Dispose();
            Assert.Equal(0, allocator.GetStatistics().RentedBytes);
        });

    // A stack is kept with the return of each, and takes managed memory.
    [Theory]
    [InlineData(SafetyMode.Guarded, 100)]
    [InlineData(SafetyMode.Guarded, Large)]
    [InlineData(SafetyMode.Guarded, 5 * Large)]
    [InlineData(SafetyMode.Standard, 100)]
    [InlineData(SafetyMode.Standard, Large)]
    public void Dispose_OfWatchedMemoryWithoutManagedMemory_DoesNotFail(SafetyMode safety, int length) => Run(
        static (safety, text) =>
        {
            int length = int.Parse(text);
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { Safety = Enum.Parse<SafetyMode>(safety), MemoryBudgetMegabytes = 64 });
            using AllocationScope scope = MemoryDiagnostics.BeginScope();

            // The runtime compiles nothing without memory: once before, of both.
            allocator.Allocate<byte>(length).Dispose();
            allocator.AllocatePixels<byte>(length / 10, 10).Dispose();
            IDisposable owner = allocator.Allocate<byte>(length);
            IDisposable pixels = allocator.AllocatePixels<byte>(length / 10, 10);
            Exception? failure = null;
            WithoutMemory(
                () =>
                {
                    owner.Dispose();
                    pixels.Dispose();
                },
                ref failure);
            Assert.True(failure is null, failure?.ToString());
            scope.AssertNothingOutstanding();
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((0, 0, 0), (statistics.RentedBytes, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        },
        safety.ToString(),
        length.ToString());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void DescribeMemory_WithoutManagedMemory_SaysSoAndDoesNotThrow(bool disposed) => Run(
        static disposed =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
            using IDisposable owner = allocator.Allocate<byte>(Large);
            if (disposed == bool.TrueString)
            {
                allocator.Dispose();
            }

            // The runtime compiles nothing without memory.
            string? text = allocator.DescribeMemory();
            string? line = allocator.ToString();
            Exception? failure = null;
            WithoutMemory(
                () =>
                {
                    text = allocator.DescribeMemory();
                    line = allocator.ToString();
                },
                ref failure);
            Assert.Null(failure);
            Assert.NotEmpty(text!);
            Assert.NotEmpty(line!);
            Assert.Contains("MemoryAllocator", allocator.DescribeMemory(), StringComparison.Ordinal);
        },
        disposed.ToString());

    // A thread-static, and there is one in front of each pool, takes managed memory when a thread first uses it.
    [Theory]
    [InlineData(0, 100)]
    [InlineData(0, Large)]
    [InlineData(64, 100)]
    [InlineData(64, Large)]
    public void Dispose_ThreadsFirstBufferWithoutManagedMemory_ReturnsEverything(int budgetMegabytes, int length) => Run(
        static (budget, text) =>
        {
            int length = int.Parse(text);
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { MemoryBudgetMegabytes = budget == "0" ? null : int.Parse(budget) });
            Exception? failure = OnNewThreadsWithoutMemory(threads: 2, () => allocator.Allocate<byte>(length).Dispose);
            Assert.Null(failure);
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((0, 0, 0), (statistics.RentedBytes, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
            allocator.ReleaseRetainedResources();
            Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
        },
        budgetMegabytes.ToString(),
        length.ToString());

    // Which rents are watched is a thread's own choice, and its first takes managed memory.
    [Fact]
    public void Allocate_ThreadsFirstSampledBufferWithoutManagedMemory_TakesNoBudget() => Run(
        static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, Safety = SafetyMode.Sampled });
            Exception? failure = OnNewThreadsWithoutMemory(
                threads: 4,
                () => () =>
                {
                    try
                    {
                        allocator.Allocate<byte>(Large).Dispose();
                    }
                    catch (OutOfMemoryException)
                    {
                    }
                });
            Assert.Null(failure);
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((0, 0, 0), (statistics.RentedBytes, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        });

    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public void Allocate_FirstWithoutManagedMemory_WorksLater(int length) => Run(
        static text =>
        {
            int length = int.Parse(text);
            using MemoryAllocator allocator = MemoryAllocator.Create();
            Exception? failure = null;
            WithoutMemory(() => allocator.Allocate<byte>(length), ref failure);
            Assert.True(failure is null or OutOfMemoryException, failure?.ToString());
            allocator.Allocate<byte>(length).Dispose();
        },
        length.ToString());

    [SkippableFact]
    public void Meter_MadeWithoutManagedMemory_IsMadeLater()
    {
        Skip.If(
            typeof(MemoryAllocator).Assembly.GetType("Allocator.Diagnostics.UsageInstrument") is null,
            "The asset for netstandard2.0 has no meter.");
        Run(
            static () =>
            {
                UserCallbacks.Thread.NoteUnused();
                _ = AllocatorEventSource.Log;
                _ = new Meter("Other");
                _ = AllocatorMeter.IsMade;
                Exception? failure = null;
                WithoutMemory(AllocatorMeter.Ensure, ref failure);
                MemoryAllocator.Create().Dispose();
                int instruments = 0;
                using MeterListener listener = new()
                {
                    InstrumentPublished = (instrument, _) => instruments += instrument.Meter.Name == "Allocator" ? 1 : 0,
                };
                listener.Start();
                SpinWait.SpinUntil(() => Volatile.Read(ref instruments) >= Instruments, s_patience);
                Assert.True(instruments == Instruments, $"{instruments} {AllocatorMeter.IsMade} {failure}");
            });
    }

    [Fact]
    public void Waiter_FirstNotifiedWithoutManagedMemory_IsServed() => Run(
        static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { MemoryBudgetMegabytes = 8, TrimPeriod = TimeSpan.FromMilliseconds(50) });
            IDisposable held = allocator.Allocate<byte>(2 * Large);
            Task<IDisposable>[] waiting = new Task<IDisposable>[3];
            for (int i = 0; i < waiting.Length; i++)
            {
                waiting[i] = Rent(allocator);
            }

            Exception? failure = null;
            WithoutMemory(() => held.Dispose(), ref failure);
            Assert.Null(failure);
            foreach (Task<IDisposable> waiter in waiting)
            {
                Assert.True(waiter.Wait(s_patience), "A waiter is lost.");
                waiter.Result.Dispose();
            }
        });

    [Fact]
    public void EndOfAllocator_WithoutManagedMemory_MayBeRepeated() => Run(
        static () =>
        {
            MemoryAllocator.Create().Dispose();
            List<LinkedListNode<IUsageSource>> registrations = [];
            for (int i = 0; i < 40; i++)
            {
                registrations.Add(UsageRegistry.Register(new Source(new AllocatorCounters { AllocatorName = $"name {i}" })));
            }

            int next = 0;
            Exception? failure = null;
            WithoutMemory(
                () =>
                {
                    while (next < registrations.Count)
                    {
                        UsageRegistry.End(registrations[next++]);
                    }
                },
                ref failure);
            Assert.True(failure is null or OutOfMemoryException, failure?.ToString());
            registrations.ForEach(UsageRegistry.End);
            UsageRegistry.Read();
        });

    [Fact]
    public void EndOfAllocator_Twice_HappensOnce() => RemoteExecutor.Invoke(static () =>
    {
        Source source = new(new AllocatorCounters { AllocatorName = "twice" }) { HasMemory = true };
        LinkedListNode<IUsageSource> registration = UsageRegistry.Register(source);
        UsageRegistry.End(registration);
        UsageRegistry.End(registration);
        source.HasMemory = false;
        UsageRegistry.End(registration);
        UsageRegistry.End(registration);
        UsageRegistry.Read();
    }).Dispose();

    private static async Task<IDisposable> Rent(MemoryAllocator allocator) => await allocator.AllocateAsync<byte>(Large);

    // The first thread has memory, and compiles what the others run. Returns the last failure.
    private static Exception? OnNewThreadsWithoutMemory(int threads, Func<Action> prepare)
    {
        using ManualResetEventSlim go = new();
        using CountdownEvent done = new(threads);
        Exception? failure = null;
        for (int i = 0; i < threads; i++)
        {
            Action action = prepare();
            Thread other = new(() =>
            {
                go.Wait();
                try
                {
                    action();
                }
                catch (Exception exception)
                {
                    failure = exception;
                }

                done.Signal();
            });
            other.UnsafeStart();
            if (i == 0)
            {
                go.Set();
                other.Join();
                go.Reset();
            }
        }

        Exception? none = null;
        WithoutMemory(
            () =>
            {
                go.Set();

                // To wait takes memory at times.
                while (!done.IsSet)
                {
                    Thread.Yield();
                }
            },
            ref none);
        Assert.Null(none);
        return failure;
    }

    // For a moment only: the runtime's own finalizers end a process that stays without memory.
    private static void WithoutMemory(Action action, ref Exception? failure)
    {
        Exception? first = null;

        // The runtime's own thread pool and exceptions need memory when they are first used, and end the process where there is none: this
        // is not about that.
        QueuedWork.StartPoolThreads();
        using CountdownEvent ticks = new(20);
        using (new Timer(_ => _ = ticks.IsSet || ticks.Signal(), null, 10, 10))
        {
            Assert.True(ticks.Wait(s_patience));
        }

        // Once: the action comes when all is taken for the first time, and each further round is a dozen collections.
        new ExhaustedHeap(TimeSpan.Zero, leastRounds: 1).Hold(() =>
        {
            try
            {
                action();
            }
            catch (Exception exception)
            {
                first = exception;
            }
        });
        failure = first;
    }

    private static void Run(Action method) => Run(() => RemoteExecutor.Invoke(method, Limited()));

    private static void Run(Action<string> method, string argument) => Run(() => RemoteExecutor.Invoke(method, argument, Limited()));

    private static void Run(Action<string, string> method, string first, string second) =>
        Run(() => RemoteExecutor.Invoke(method, first, second, Limited()));

    // The runtime ends a process where it compiles or starts a thread without memory, whatever the library does. What the library does
    // wrong fails in an assertion.
    private static void Run(Func<RemoteInvokeHandle> start) => ExhaustedRuntime.Survive(start);

    private static RemoteInvokeOptions Limited()
    {
        RemoteInvokeOptions options = new() { TimeOut = 120_000 };
        options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = "0x4000000";
        options.StartInfo.Environment["DOTNET_TieredCompilation"] = "0";
        options.StartInfo.Environment["DOTNET_gcConcurrent"] = "0";
        return options;
    }

    private sealed class Source : IUsageSource
    {
        public Source(AllocatorCounters counters) => Counters = counters;

        public AllocatorCounters Counters { get; }

        public bool HasMemory { get; set; }

        public void AddTo(long[] figures)
        {
        }

        public IEnumerable<MemoryJobStatistics> ReadJobs() => [];
    }
}

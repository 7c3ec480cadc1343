using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Reflection;
using System.Runtime.Loader;
using System.Runtime.Versioning;

namespace Allocator.Tests.Lifetime;

/// <summary>
/// The library, and this assembly with it, in a load context that can be unloaded: what they did there leaves nothing in the process that
/// keeps the context.
/// </summary>
public class UnloadingTests
{
    // More than the second generation, and the finalizers of finalizers, need.
    private const int Collections = 10;

    // A thread of the pool that is in the library's code, in a collection it was asked for perhaps, keeps that code loaded. It has to come
    // out of it first, and may lose the race for the processor, and for the collector's lock, against ten collections in a row: now and
    // then, and not each time.
    private const int Tries = 3;
    private static readonly TimeSpan s_otherThreadsTurn = TimeSpan.FromMilliseconds(20);

    [SkippableTheory]
    [InlineData(nameof(UseAndDispose))]
    [InlineData(nameof(UseAndDrop))]
    [InlineData(nameof(UseDefault))]
    [InlineData(nameof(UseDiagnostics))]
    [InlineData(nameof(AbandonMemory))]
    [InlineData(nameof(WaitForBudget))]
    [InlineData(nameof(WatchMemory))]
    [InlineData(nameof(UseOnOtherThreads))]
    public void Unload_AfterUse_UnloadsWithinTenCollections(string use)
    {
        SkipForNetStandard();
        RemoteExecutor.Invoke(
            static name => Assert.Contains(Enumerable.Range(0, Tries), _ => CollectionsUntilUnloaded(name) <= Collections), use).Dispose();
    }

    [SkippableFact]
    public void Unload_DefaultHasIdleMemory_ReleasesIt()
    {
        SkipForNetStandard();
        RemoteExecutor.Invoke(static () =>
        {
            // What the first load context makes the runtime load stays.
            CollectionsUntilUnloaded(nameof(UseDefault));
            long before = ResidentSet.Bytes;
            for (int i = 0; i < 4; i++)
            {
                CollectionsUntilUnloaded(nameof(UseDefault));
            }

            Assert.InRange(ResidentSet.Bytes - before, long.MinValue, 32 << 20);
        }).Dispose();
    }

    private static void SkipForNetStandard() => Skip.If(
        typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()!.FrameworkName.StartsWith(
            ".NETStandard", StringComparison.Ordinal),
        "That asset is for runtimes without load contexts.");

    private static int CollectionsUntilUnloaded(string use)
    {
        WeakReference context = LoadUseAndUnload(use);
        for (int collections = 1; collections <= Collections; collections++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            QueuedWork.Wait();
            if (!context.IsAlive)
            {
                return collections;
            }

            SpinWait.SpinUntil(static () => false, s_otherThreadsTurn);
        }

        return int.MaxValue;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference LoadUseAndUnload(string use)
    {
        SeparateContext context = new();
        Type type = context.LoadFromAssemblyPath(typeof(UnloadingTests).Assembly.Location)
            .GetType(typeof(UnloadingTests).FullName!, throwOnError: true)!;
        Assert.NotSame(typeof(UnloadingTests), type);
        type.GetMethod(use, BindingFlags.NonPublic | BindingFlags.Static)!.Invoke(null, null);
        context.Unload();
        return new WeakReference(context, trackResurrection: true);
    }

    // From here on: called in the load context.
    private static void UseAndDispose()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { Name = "Disposed", TrimPeriod = TimeSpan.FromMilliseconds(20) });
        UseEverything(allocator);
    }

    private static void UseAndDrop() =>
        UseEverything(MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            BlockCommitted = static (_, _) => { },
            BlockReleasing = static (_, _) => { },
        }));

    private static void UseDefault() => UseEverything(MemoryAllocator.Default);

    private static void UseDiagnostics()
    {
        using MeterListener meters = new()
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == "Allocator")
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            },
        };
        meters.SetMeasurementEventCallback<long>(static (_, _, _, _) => { });
        meters.Start();
        using AllEvents events = new();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => { };
        using MemoryAllocator allocator = MemoryAllocator.Create();
        UseEverything(allocator);
        meters.RecordObservableInstruments();
        Assert.True(events.Count > 0);
    }

    private static void AbandonMemory()
    {
        MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(20) });
        Abandon(allocator);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(1, allocator.GetStatistics().Abandoned);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(MemoryAllocator allocator) => allocator.Allocate<byte>(4 << 20);

    private static void WaitForBudget()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 8, MemoryBudgetMegabytes = 8 });
        IMemoryOwner<byte> held = allocator.Allocate<byte>(8 << 20);
        ValueTask<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(4 << 20);
        Assert.False(waiting.IsCompleted);
        held.Dispose();
        waiting.AsTask().GetAwaiter().GetResult().Dispose();
        using MemoryReservation? reservation = allocator.ReserveAsync(4 << 20).AsTask().GetAwaiter().GetResult();
        allocator.Allocate<byte>(1000).Dispose();
    }

    private static void WatchMemory()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        UseEverything(allocator);
    }

    // Threads that live on, and have used it.
    private static void UseOnOtherThreads()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using CountdownEvent done = new(8);
        for (int i = 0; i < 8; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                static state =>
                {
                    UseEverything(state.Allocator);
                    state.Done.Signal();
                },
                (Allocator: allocator, Done: done),
                preferLocal: false);
        }

        done.Wait();
    }

    private static void UseEverything(MemoryAllocator allocator)
    {
        Assert.True(AssemblyLoadContext.GetLoadContext(typeof(MemoryAllocator).Assembly)!.IsCollectible);
        for (int i = 0; i < 3; i++)
        {
            allocator.Allocate<byte>(1000).Dispose();
            allocator.Rent<int>(1 << 20).Dispose();
            allocator.AllocateGroup<byte>(12 << 20, options: AllocationOptions.Clean).Dispose();
            allocator.AllocateAligned<byte>(1000, 4096).Dispose();
            allocator.Allocate<byte>(64 << 20).Dispose();
            using PixelBuffer<int> pixels = allocator.AllocatePixels<int>(1000, 1500);
            pixels.Clear();
        }

        allocator.GetStatistics();
        allocator.GetMemoryLoad();
        _ = MemoryDiagnostics.OutstandingAllocations;
    }

    private sealed class SeparateContext() : AssemblyLoadContext("Unloading", isCollectible: true)
    {
        protected override Assembly? Load(AssemblyName assemblyName) =>
            assemblyName.Name == "Allocator" ? LoadFromAssemblyPath(typeof(MemoryAllocator).Assembly.Location) : null;
    }

    private sealed class AllEvents : EventListener
    {
        private int _count;

        public int Count => Volatile.Read(ref _count);

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == "Allocator")
            {
                EnableEvents(eventSource, EventLevel.Verbose, EventKeywords.All);
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData) => Interlocked.Increment(ref _count);
    }
}

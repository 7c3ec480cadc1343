using System.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Tests.Trimming;

/// <summary>
/// Many allocators, and much that was abandoned: the time for ten times as much is about ten times as long. In processes of their own,
/// which do nothing else.
/// </summary>
[Collection(nameof(Alone))]
public class ScalingTests
{
    private const int Few = 2_000;
    private const int Many = 20_000;
    private const double MostPerItem = 2.5;
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Quarantine_TwentyThousandAbandonedBuffers_TakesTimeInProportion() =>
        RemoteExecutor.Invoke(static () => AssertLinear(static count =>
    {
        using TestSetup setup = new(maximumBlocks: 1);
        AllocateAndDrop(setup.Allocator, count);
        Stopwatch watch = Stopwatch.StartNew();
        QueuedWork.Collect();
        Assert.Equal(count, setup.Statistics.Abandoned);
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        QueuedWork.Collect();
        Assert.Equal(0, setup.Statistics.QuarantinedBytes);
        return watch.Elapsed;
    })).Dispose();

    [SkippableFact]
    public void Scheduler_TwentyThousandPools_AreWokenAndTickedInTimeInProportion()
    {
        OptimizedBuild.SkipOtherwise();
        RemoteExecutor.Invoke(static () => AssertLinear(static count =>
        {
            FakeClock clock = new();
            TrimTimer scheduler = new(clock, static () => { }, watchesCollections: false) { Jitter = new Random(1) };
            AllocatorCounters counters = new();
            counters.AddCommitted(1);
            AllocatorContext policy = new(counters, clock, scheduler.Quarantine);
            UniformUnmanagedMemoryPool pool = new(new PoolGeometry(Block, 1), new FakeMemorySource(), policy);
            CountedArrayPool arrays = new(policy, maximumIdleBytes: 0, requestCollection: null);
            IdleMemory idle = new(counters, pool.Idle, arrays);
            FakePressure pressure = new();
            MemoryAllocatorOptions options = new();
            List<PoolTrimmer> trimmers =
                [.. Enumerable.Range(0, count).Select(_ => new PoolTrimmer(pool, arrays, idle, policy, pressure, options))];
            Stopwatch watch = Stopwatch.StartNew();
            foreach (PoolTrimmer trimmer in trimmers)
            {
                scheduler.Wake(trimmer);
            }

            clock.Advance(TimeSpan.FromSeconds(150));
            GC.KeepAlive(trimmers);
            return watch.Elapsed;
        })).Dispose();
    }

    private static void AssertLinear(Func<int, TimeSpan> measure)
    {
        measure(Few);
        List<double> ratios = [];
        for (int i = 0; i < 5; i++)
        {
            ratios.Add(measure(Many).TotalSeconds / Many / (measure(Few).TotalSeconds / Few));
        }

        ratios.Sort();
        Assert.True(
            ratios[2] < MostPerItem,
            $"Times per item are to each other as {string.Join("; ", ratios.Select(static ratio => $"{ratio:0.0}"))}.");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AllocateAndDrop(MemoryAllocator allocator, int count)
    {
        for (int i = 0; i < count; i++)
        {
            GC.KeepAlive(allocator.Allocate<byte>(2000));
        }
    }
}

using Allocator.Trimming;

namespace Allocator.Tests.Trimming;

/// <summary>Pools and processes that were started together do not trim together.</summary>
public class TrimSpreadTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_period = TimeSpan.FromMinutes(1);

    [Fact]
    public void Tick_ProcessesStartedTogether_TrimAtDifferentInstantsAndNoneTooSoon()
    {
        List<long> firstTrims = [.. Enumerable.Range(1, 20).Select(static seed =>
        {
            using TestSetup process = new(16, jitter: new Random(seed));
            return FirstTrim(process);
        })];

        // The first look sees memory in use, the second what stayed idle since.
        Assert.All(firstTrims, static delay => Assert.InRange(delay, 120_000, 144_000));
        Assert.Equal(20, firstTrims.Distinct().Count());
        Assert.InRange(firstTrims.Max() - firstTrims.Min(), 5_000, 24_000);
    }

    [Fact]
    public void Tick_PoolsOfOneProcess_TrimAtDifferentInstants()
    {
        using TestSetup first = new(16, jitter: new Random(1));
        List<TestSetup> pools = [first, .. Enumerable.Range(0, 9).Select(_ => new TestSetup(16, sharesTimeWith: first))];
        List<long> trims = [];
        long start = first.Clock.NowMilliseconds;
        foreach (TestSetup pool in pools)
        {
            pool.Source.OnPurge = () => trims.Add(first.Clock.NowMilliseconds - start);
            pool.Allocator.Allocate<byte>(Block).Dispose();
        }

        first.Clock.Advance(s_period * 3);
        Assert.Equal(10, trims.Distinct().Count());
        Assert.Equal(0, first.Clock.RunningTimers);
        pools.ForEach(static pool => pool.Dispose());
    }

    [Fact]
    public void Tick_Jittered_IdlePoolsReachZeroAndTheTimerStops()
    {
        using TestSetup setup = new(16, jitter: new Random(7));
        setup.Allocator.AllocateGroup<byte>(9 * Block).Dispose();
        setup.Clock.Advance(s_period * 1.2 * 5);

        Assert.Equal((0L, 9L * Block, 4L), (setup.Statistics.RetainedBytes, setup.Statistics.TrimmedBytes, setup.Statistics.Trims));
        Assert.Equal(0, setup.Clock.RunningTimers);
    }

    [Fact]
    public void Tick_LongestPeriodJittered_IsWaitedFor()
    {
        using TestSetup setup = new(
            16, new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(int.MaxValue), TrimRate = 1 }, jitter: new Random(1));
        setup.Allocator.Allocate<byte>(Block).Dispose();
        TimeSpan period = TimeSpan.FromMilliseconds(int.MaxValue);
        Assert.InRange(setup.Clock.NextTimer!.Value, period, period * 1.2);

        setup.Clock.Advance(TimeSpan.FromMilliseconds(int.MaxValue) * 2.4);
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Shared_OfTheProcess_IsJittered() => Assert.NotNull(TrimTimer.Shared.Jitter);

    private static long FirstTrim(TestSetup process)
    {
        long start = process.Clock.NowMilliseconds;
        long? first = null;
        process.Source.OnPurge = () => first ??= process.Clock.NowMilliseconds - start;
        process.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        process.Clock.Advance(s_period * 4);
        return first!.Value;
    }

    [Fact]
    public void Stretch_ManyPeriods_IsFromNothingToAFifth()
    {
        Random jitter = new(1);
        List<long> periods = [.. Enumerable.Range(0, 10_000).Select(_ => PoolTrimmer.Stretch(60_000, jitter))];

        Assert.InRange(periods.Min(), 60_000, 60_100);
        Assert.InRange(periods.Max(), 71_900, 72_000);
        Assert.InRange(periods.Average(), 65_700, 66_300);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(int.MaxValue)]
    public void Stretch_ExtremePeriods_StaysWithinItsBounds(long period)
    {
        Random jitter = new(1);
        Assert.All(Enumerable.Range(0, 100), _ => Assert.InRange(PoolTrimmer.Stretch(period, jitter), period, period + (period / 5)));
    }

    [Fact]
    public void CreateJitter_TwoProcessesOrSchedulers_DrawDifferentNumbers()
    {
        Random first = PoolTrimmer.CreateJitter();
        Random second = PoolTrimmer.CreateJitter();
        Assert.NotEqual(Periods(first), Periods(second));

        static List<long> Periods(Random jitter) => [.. Enumerable.Range(0, 10).Select(_ => PoolTrimmer.Stretch(1_000_000, jitter))];
    }

    [Fact]
    public void Stretch_NoJitter_LeavesThePeriodAsItIs() => Assert.Equal(60_000, PoolTrimmer.Stretch(60_000, null));
}

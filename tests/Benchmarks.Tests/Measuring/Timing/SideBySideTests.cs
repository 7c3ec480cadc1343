namespace Measuring.Tests.Timing;

public class SideBySideTests
{
    // So short that a single call fills it: the tests look at what is called, not at how long it takes.
    private static readonly TimeSpan s_sample = TimeSpan.FromTicks(1);

    [Fact]
    public void Run_TwoOperations_TakesTurnsRoundByRound()
    {
        List<string> calls = [];
        SideBySide measurement = new(3, s_sample);
        measurement.Add("first", count => Work(calls, "first", count));
        measurement.Add("second", count => Work(calls, "second", count));

        _ = measurement.Run();

        Assert.Equal(["first", "second", "first", "second", "first", "second"], calls.TakeLast(6));
    }

    [Fact]
    public void Run_EveryRound_RepeatsAsOftenAsTheCalibrationFound()
    {
        List<int> counts = [];
        SideBySide measurement = new(4, s_sample);
        measurement.Add("only", count =>
        {
            counts.Add(count);
            Work([], "only", count);
        });

        _ = measurement.Run();

        Assert.Single(counts.TakeLast(4).Distinct());
        Assert.All(counts, count => Assert.True(count >= 1));
    }

    [Fact]
    public void Run_AMachineBusyWithSomethingElse_RepeatsAsOftenAsOnAnIdleOne()
    {
        int calls = 0;
        int last = 0;
        SideBySide measurement = new(1, TimeSpan.FromMilliseconds(2));
        measurement.Add("disturbed", count =>
        {
            // 10 microseconds each, and all laps but one of eight take 20 milliseconds more.
            last = count;
            Spin(TimeSpan.FromMicroseconds(10 * count) + TimeSpan.FromMilliseconds(++calls % 8 == 0 ? 0 : 20));
        });

        _ = measurement.Run();

        Assert.InRange(last, 20, 200);
    }

    [Fact]
    public void Run_FirstOperation_HasARatioOfOne()
    {
        SideBySide measurement = new(3, s_sample);
        measurement.Add("first", count => Work([], "first", count));
        measurement.Add("second", count => Work([], "second", count));

        IReadOnlyList<OperationTime> times = measurement.Run();

        Assert.Equal(["first", "second"], times.Select(time => time.Name));
        Assert.Equal(1, times[0].Ratio);
        Assert.All(times, time => Assert.True(time.Best > 0 && time.Best <= time.Median && time.Ratio > 0));
    }

    [Fact]
    public void Run_AnOperationThatAllocates_TellsItsBytes()
    {
        SideBySide measurement = new(2, s_sample);
        measurement.Add("array", count =>
        {
            for (int i = 0; i < count; i++)
            {
                GC.KeepAlive(new byte[1_000_000]);
            }
        });

        double bytes = measurement.Run()[0].AllocatedBytes;

        Assert.InRange(bytes, 1_000_000, 1_010_000);
    }

    [Fact]
    public void Constructor_NoRounds_Throws() => Assert.Throws<ArgumentOutOfRangeException>(() => new SideBySide(0, s_sample));

    private static void Spin(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < time)
        {
        }
    }

    private static void Work(List<string> calls, string name, int count)
    {
        calls.Add(name);
        for (int i = 0; i < count; i++)
        {
            // Long enough for any clock to notice.
            GC.KeepAlive(new int[20_000]);
        }
    }
}

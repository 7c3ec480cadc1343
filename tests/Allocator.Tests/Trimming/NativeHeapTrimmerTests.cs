using Allocator.Trimming;

namespace Allocator.Tests.Trimming;

public class NativeHeapTrimmerTests
{
    private readonly FakeClock _clock = new();
    private readonly AllocatorCounters _counters = new();
    private TimeSpan _duration = TimeSpan.FromMilliseconds(3);
    private long _resident = 1000;
    private int _trims;

    [Fact]
    public void TryTrim_Done_CountsBytesAndDuration()
    {
        Create().TryTrim(_counters);
        Assert.Equal(
            (1, 100, 3),
            (_counters[UsageFigure.NativeHeapTrims],
                _counters[UsageFigure.NativeHeapTrimmedBytes],
                _counters[UsageFigure.NativeHeapTrimMilliseconds]));
    }

    [Theory]
    [InlineData(3, 1000)]
    [InlineData(100, 2000)]
    public void TryTrim_WithinASecondOrTwentyTimesTheLastDuration_DoesNothing(int duration, int pause)
    {
        _duration = TimeSpan.FromMilliseconds(duration);
        NativeHeapTrimmer trimmer = Create();
        trimmer.TryTrim(_counters);
        _clock.Advance(TimeSpan.FromMilliseconds(pause - 1));
        trimmer.TryTrim(_counters);
        Assert.Equal(1, _trims);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        trimmer.TryTrim(_counters);
        Assert.Equal(2, _trims);
    }

    [Theory]
    [InlineData(3, 60)]
    [InlineData(100, 2000)]
    public void TryTrim_AgainWithinTwentyTimesTheLastDuration_DoesNothing(int duration, int pause)
    {
        _duration = TimeSpan.FromMilliseconds(duration);
        NativeHeapTrimmer trimmer = Create();
        trimmer.TryTrim(_counters);
        _clock.Advance(TimeSpan.FromMilliseconds(pause - 1));
        trimmer.TryTrim(_counters, isAgain: true);
        Assert.Equal(1, _trims);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        trimmer.TryTrim(_counters, isAgain: true);
        Assert.Equal(2, _trims);
    }

    [Fact]
    public void TryTrim_UnsupportedCLibrary_IsNeverTriedAgain()
    {
        NativeHeapTrimmer trimmer = new(_clock, () => ++_trims < 0, static () => 0);
        trimmer.TryTrim(_counters);
        _clock.Advance(TimeSpan.FromDays(1));
        trimmer.TryTrim(_counters);
        Assert.Equal((1, 0), (_trims, _counters[UsageFigure.NativeHeapTrims]));
    }

    [Fact]
    public void TryTrim_WhileAnotherThreadTrims_ReturnsAtOnce()
    {
        NativeHeapTrimmer? trimmer = null;
        trimmer = new NativeHeapTrimmer(
            _clock,
            () =>
            {
                _trims++;
                Thread other = new(() => trimmer!.TryTrim(_counters));
                other.Start();
                return other.Join(TimeSpan.FromSeconds(30));
            },
            static () => 0);
        trimmer.TryTrim(_counters);
        Assert.Equal((1, 1), (_trims, _counters[UsageFigure.NativeHeapTrims]));
    }

    [Fact]
    public void Request_FromARenter_TrimsOnAnotherThread()
    {
        using ManualResetEventSlim done = new();
        int thread = 0;
        NativeHeapTrimmer trimmer = new(
            _clock,
            () =>
            {
                thread = Environment.CurrentManagedThreadId;
                done.Set();
                return true;
            },
            static () => 0);
        trimmer.Request(_counters);
        Assert.True(done.Wait(TimeSpan.FromSeconds(30)));
        Assert.NotEqual(Environment.CurrentManagedThreadId, thread);
    }

    private NativeHeapTrimmer Create() => new(
        _clock,
        () =>
        {
            _trims++;
            _clock.Advance(_duration);
            _resident -= 100;
            return true;
        },
        () => _resident);
}

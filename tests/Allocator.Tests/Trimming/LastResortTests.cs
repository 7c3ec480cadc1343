using System;
using Allocator.Diagnostics;
using Allocator.Tests.Fakes;
using Allocator.Trimming;
using Xunit;

namespace Allocator.Tests.Trimming;

public class LastResortTests
{
    private readonly FakeClock _clock = new();
    private readonly AllocatorCounters _counters = new();
    private int _collections;

    [Fact]
    public void Run_ManyInASecond_CollectsOnce()
    {
        LastResort resort = Create();
        for (int i = 0; i < 10; i++)
        {
            resort.Run(mayCollect: true, null, _counters);
            _clock.Advance(TimeSpan.FromMilliseconds(99));
        }

        Assert.Equal(1, _collections);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        resort.Run(mayCollect: true, null, _counters);
        Assert.Equal(2, _collections);
    }

    [Fact]
    public void Run_ATenthOfASecondAfterTheCollection_IsNoLongerWorthAWait()
    {
        LastResort resort = Create();
        Assert.True(resort.Run(mayCollect: true, null, _counters));
        _clock.Advance(TimeSpan.FromMilliseconds(99));
        Assert.True(resort.Run(mayCollect: true, null, _counters));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(resort.Run(mayCollect: true, null, _counters));
    }

    [Fact]
    public void Run_CollectionsNotWanted_OnlyTrimsMallocsMemory()
    {
        int trims = 0;
        NativeHeapTrimmer trimmer = new(_clock, () => ++trims > 0, static () => 0);
        Assert.False(Create().Run(mayCollect: false, trimmer, _counters));
        Assert.Equal((0, 1), (_collections, trims));
    }

    private LastResort Create() => new(_clock, () => _collections++);
}

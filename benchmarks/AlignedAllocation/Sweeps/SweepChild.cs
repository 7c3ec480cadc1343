using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using AlignedAllocation.Ways;
using Measuring.Timing;

namespace AlignedAllocation.Sweeps;

/// <summary>The child process: times all ways side by side, for each type of pixels.</summary>
internal static class SweepChild
{
    /// <summary>Measures.</summary>
    public static SweepReport Run(SweepSettings settings)
    {
        using AllocationWays ways = new();
        IReadOnlyList<AllocationWay> swept = ways.ForSweeps();
        WarmUp(swept, settings);
        List<SweepTime> times = [];
        foreach ((int i, PixelType type) in PixelType.All.Index())
        {
            times.AddRange(Measure(swept, type, touched: false, settings.Samples, settings.SampleMilliseconds));
            if (i < settings.TouchedTypes)
            {
                times.AddRange(Measure(swept, type, touched: true, settings.TouchedSamples, settings.SampleMilliseconds));
            }
        }

        return new SweepReport
        {
            Configuration = BuildConfiguration.Name,
            IsOptimized = BuildConfiguration.IsOptimized,
            Samples = settings.Samples,
            Times = times,
        };
    }

    // Until the runtime has replaced its first, quickly compiled code: that takes some 100 milliseconds of running, and would all fall on the first type.
    private static void WarmUp(IReadOnlyList<AllocationWay> ways, SweepSettings settings)
    {
        int[] sizes = ImageSizes.ListBytes(PixelType.All[0].Bytes);
        TimeSpan length = TimeSpan.FromMilliseconds(100 * settings.SampleMilliseconds);
        foreach (AllocationWay way in ways)
        {
            long start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start) < length)
            {
                way.Sweep(sizes, passes: 1);
            }
        }
    }

    private static IEnumerable<SweepTime> Measure(IReadOnlyList<AllocationWay> ways, PixelType type, bool touched, int samples, double milliseconds)
    {
        int[] sizes = ImageSizes.ListBytes(type.Bytes);
        SideBySide sideBySide = new(samples, TimeSpan.FromMilliseconds(milliseconds));
        foreach (AllocationWay way in ways)
        {
            sideBySide.Add(way.Name, touched ? passes => way.SweepTouching(sizes, passes) : passes => way.Sweep(sizes, passes));
        }

        return sideBySide.Run().Select(time => new SweepTime(type.Name, time.Name, touched, time.Median / sizes.Length, 1 / time.Ratio));
    }
}

namespace Measurements.Alignment;

/// <summary>What a child is to measure.</summary>
/// <param name="Samples">Samples of each time.</param>
/// <param name="TouchedSamples">Samples of each time of a sweep that writes to the memory.</param>
/// <param name="TouchedTypes">For how many types of pixels the memory is written to, the smallest first.</param>
/// <param name="SampleMilliseconds">How long one sample takes, about.</param>
internal sealed record SweepRequest(int Samples, int TouchedSamples, int TouchedTypes, double SampleMilliseconds);

/// <summary>What a child measured.</summary>
internal sealed record SweepReport(IReadOnlyList<SweepTime> Times);

/// <summary>How long one way took for one type of pixels.</summary>
/// <param name="Type">The type's name.</param>
/// <param name="Way">The way's name.</param>
/// <param name="Touched">Whether every page was written to.</param>
/// <param name="Nanoseconds">The median over the samples, for one allocation and its release, over all sizes.</param>
/// <param name="Factor">The median over the samples of the over-allocating way's time divided by this one's: above 1 is faster.</param>
internal sealed record SweepTime(string Type, string Way, bool Touched, double Nanoseconds, double Factor);

/// <summary>The child process: times all ways side by side, for each type of pixels.</summary>
internal static class Sweep
{
    // The twenty of OpenCV's performance tests for allocation, small, odd and large in turn.
    private static readonly (int Width, int Height)[] s_sizes =
    [
        (24, 24), (32, 32), (64, 64), (2592, 1944), (2048, 2048), (128, 128), (127, 61), (320, 240), (640, 480), (800, 600),
        (1280, 720), (1920, 1080), (3840, 2160), (7680, 4320), (2048, 1536), (1024, 768), (1280, 1024), (2560, 1440), (640, 360),
        (960, 540),
    ];

    public static ChildTask<SweepRequest, SweepReport> Task { get; } =
        new("sweep", MeasurementJson.Default.SweepRequest, MeasurementJson.Default.SweepReport, Run);

    /// <summary>Gets the types of pixels, by OpenCV's names: bits, signedness and channels.</summary>
    public static IReadOnlyList<(string Name, int Bytes)> PixelTypes { get; } = [("8UC1", 1), ("16SC1", 2), ("8UC3", 3), ("8UC4", 4)];

    public static int SizeCount => s_sizes.Length;

    private static SweepReport Run(SweepRequest request)
    {
        using AllocationWays ways = new();
        IReadOnlyList<AllocationWay> swept = ways.ForSweeps();
        WarmUp(swept, request);
        List<SweepTime> times = [];
        foreach ((int i, (string, int) type) in PixelTypes.Index())
        {
            times.AddRange(Measure(swept, type, touched: false, request.Samples, request.SampleMilliseconds));
            if (i < request.TouchedTypes)
            {
                times.AddRange(Measure(swept, type, touched: true, request.TouchedSamples, request.SampleMilliseconds));
            }
        }

        return new SweepReport(times);
    }

    private static int[] Sizes(int bytesPerPixel) => [.. s_sizes.Select(size => size.Width * size.Height * bytesPerPixel)];

    // Until the runtime has replaced its first, quickly compiled code: that takes some 100 milliseconds of running, and would all fall on
    // the
    // first type.
    private static void WarmUp(IReadOnlyList<AllocationWay> ways, SweepRequest request)
    {
        TimeSpan length = TimeSpan.FromMilliseconds(100 * request.SampleMilliseconds);
        foreach (AllocationWay way in ways)
        {
            long start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start) < length)
            {
                way.Sweep(Sizes(1), passes: 1, touch: false);
            }
        }
    }

    private static IEnumerable<SweepTime> Measure(
        IReadOnlyList<AllocationWay> ways, (string Name, int Bytes) type, bool touched, int samples, double milliseconds)
    {
        int[] sizes = Sizes(type.Bytes);
        SideBySide sideBySide = new(samples, TimeSpan.FromMilliseconds(milliseconds));
        foreach (AllocationWay way in ways)
        {
            sideBySide.Add(way.Name, passes => way.Sweep(sizes, passes, touched));
        }

        return sideBySide.Run().Select(time => new SweepTime(type.Name, time.Name, touched, time.Median / sizes.Length, 1 / time.Ratio));
    }
}

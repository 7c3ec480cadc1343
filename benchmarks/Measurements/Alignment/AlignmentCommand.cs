namespace Measurements.Alignment;

/// <summary>Checks that every way of allocating aligns as it promises, and times them over the sizes of images, twice.</summary>
internal static class AlignmentCommand
{
    // The twenty of OpenCV's performance tests for allocation, small, odd and large in turn.
    private static readonly (int Width, int Height)[] s_sizes =
    [
        (24, 24), (32, 32), (64, 64), (2592, 1944), (2048, 2048), (128, 128), (127, 61), (320, 240), (640, 480), (800, 600),
        (1280, 720), (1920, 1080), (3840, 2160), (7680, 4320), (2048, 1536), (1024, 768), (1280, 1024), (2560, 1440), (640, 360),
        (960, 540),
    ];

    // By OpenCV's names: bits, signedness and channels.
    private static readonly (string Name, int Bytes)[] s_types = [("8UC1", 1), ("16SC1", 2), ("8UC3", 3), ("8UC4", 4)];

    public static Command Create() => new Command(
        "alignment", "Checks the alignment of 200 buffers for each way of allocating, and times allocation and release over image sizes.")
        .Measures("AlignedAllocation", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        run.Console.WriteLine("checking alignment ...");
        ResultTable checks = AlignmentCheck.Run(run.Failures);
        int samples = run.IsQuick ? 3 : 60;
        using AllocationWays all = new();
        IReadOnlyList<AllocationWay> ways = all.ForSweeps();
        (ResultTable untouched, ResultChart untouchedChart) = Sweep(ways, samples, touch: false, run);
        (ResultTable touched, ResultChart touchedChart) = Sweep(ways, samples, touch: true, run);
        return run.NewDocument("Aligned allocation: is it aligned, and what does it cost?") with
        {
            Tables = [checks, untouched, touched],
            Charts = [untouchedChart, touchedChart],
            Notes =
            [
                "Native: NativeMemory.AlignedAlloc(64). Over-allocated: malloc of 72 bytes more, the address rounded up, the heap's own "
                    + "kept in the word below.",
                "Pool, aligned: AllocateAligned(64); up to 1 MiB that is memory of the native heap, as its documentation says. "
                    + "Pool, Allocate: ArrayPool up to 1 MiB, blocks above.",
                $"A sweep allocates and releases one buffer of each of {s_sizes.Length} image sizes, 24 × 24 to 7680 × 4320, in turn; "
                    + $"times are medians of {samples} samples, divided by that number, all ways in turn in each.",
                "The difference of run 1 and run 2 is the noise. x-factor: the median of the ratios within a sample.",
            ],
        };
    }

    private static (ResultTable Table, ResultChart Chart) Sweep(
        IReadOnlyList<AllocationWay> ways, int samples, bool touch, MeasurementRun run)
    {
        List<ResultRow> rows = [];
        ResultPoint[][] points = [.. ways.Select(_ => new ResultPoint[s_types.Length])];
        foreach ((int typeIndex, (string type, int bytes)) in s_types.Index())
        {
            int[] sizes = [.. s_sizes.Select(size => size.Width * size.Height * bytes)];
            for (int number = 1; number <= 2; number++)
            {
                run.Console.WriteLine($"sweeping {type}{(touch ? ", touched" : "")}, run {number} ...");
                double[][] times = Time(ways, sizes, samples, touch);
                double[] medians = [.. times.Select(Statistics.Median)];
                rows.Add(new ResultRow(
                    [type, $"{number}"],
                    [
                        .. medians.Select(time => (double?)time),
                        .. times.Skip(1).Select(own => (double?)Statistics.Median(times[0].Zip(own, (first, time) => first / time))),
                    ]));
                for (int way = 0; number == 1 && way < ways.Count; way++)
                {
                    points[way][typeIndex] = new ResultPoint(typeIndex, medians[way]);
                }
            }
        }

        string memory = touch ? "every page written to once before the release" : "memory untouched";
        ResultTable table = new()
        {
            Title = $"A buffer, all ways, {memory}; x-factor: the time of {ways[0].Name} by this one",
            Labels = ["test", "run"],
            Columns =
            [
                .. ways.Select(way => new ResultColumn(way.Name, "µs", "0.00")),
                .. ways.Skip(1).Select(way => new ResultColumn(way.Name, "x-factor", "0.000")),
            ],
            Rows = rows,
        };
        ResultChart chart = new()
        {
            Title = touch ? "A buffer allocated, written to and released" : "A buffer allocated and released, memory untouched",
            Kind = ChartKind.Bars,
            X = "type of pixels, 1 to 4 bytes; mean of twenty image sizes",
            Y = "time a buffer, µs",
            LogarithmicY = true,
            Categories = [.. s_types.Select(type => type.Name)],
            Series = [.. ways.Select((way, i) => new ResultSeries(way.Name, points[i]))],
        };
        return (table, chart);
    }

    // Microseconds a buffer, of each way in each sample. Untouched, a sweep takes a few microseconds: some in turn are timed as one.
    private static double[][] Time(IReadOnlyList<AllocationWay> ways, int[] sizes, int samples, bool touch)
    {
        int passes = touch ? 1 : 100;
        double[][] times = [.. ways.Select(_ => new double[samples])];

        // Those before the first are for the compiler.
        for (int sample = -Math.Min(samples, 30); sample < samples; sample++)
        {
            for (int way = 0; way < ways.Count; way++)
            {
                long start = Stopwatch.GetTimestamp();
                ways[way].Sweep(sizes, passes, touch);
                if (sample >= 0)
                {
                    times[way][sample] = Stopwatch.GetElapsedTime(start).TotalMicroseconds / (passes * sizes.Length);
                }
            }
        }

        return times;
    }
}

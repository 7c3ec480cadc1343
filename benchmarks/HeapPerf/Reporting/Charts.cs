using System.Collections.Generic;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Heaps;
using HeapPerf.Running;
using Measuring.Results;

namespace HeapPerf.Reporting;

/// <summary>The charts: times of the smallest and of the largest class, and the memory of what is touched.</summary>
internal static class Charts
{
    /// <summary>Returns those for which there are lines to draw.</summary>
    public static IReadOnlyList<ResultChart> Create(Measurements measurements)
    {
        IReadOnlyList<SizeClass> classes = measurements.Options.Classes;
        SizeClass largest = classes[^1];
        List<(SizeClass Class, Figure Figure)> charts = [.. classes.Where(sizeClass => sizeClass == classes[0] || sizeClass.SizeInBytes == largest.SizeInBytes)
            .SelectMany(sizeClass => new[] { (sizeClass, Figure.AllocateTime), (sizeClass, Figure.FreeTime) })];
        charts.Add((largest, Figure.PeakMemory));
        return measurements.Options.Threads.Count < 2 ? [] : [.. charts.Select(chart => Create(measurements, chart.Class, chart.Figure))];
    }

    private static ResultChart Create(Measurements measurements, SizeClass sizeClass, Figure figure) => new()
    {
        Title = $"{figure.Name}: {sizeClass.Title}",
        Kind = ChartKind.Lines,
        X = "threads",
        Y = figure.Title,
        LogarithmicX = true,
        LogarithmicY = true,
        Series = [.. measurements.Heaps.Select(heap => new ResultSeries(HeapNames.Of(heap), Points(measurements, sizeClass, figure, heap)))],
    };

    // What is not above zero has no place on a logarithmic axis.
    private static List<ResultPoint> Points(Measurements measurements, SizeClass sizeClass, Figure figure, HeapKind heap)
        => [.. measurements.Options.Threads
            .Zip(measurements.Series(sizeClass, heap, figure.Read), (threads, value) => new ResultPoint(threads, value ?? 0))
            .Where(point => point.Y > 0)];
}

using System.Collections.Generic;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Heaps;
using HeapPerf.Running;
using Measuring.Results;

namespace HeapPerf.Reporting;

/// <summary>The question that the project asks of this program: do times grow with the threads as <c>ArrayPool</c>'s do, or less?</summary>
internal static class SlopeTable
{
    private static readonly HeapKind[] s_heaps = [HeapKind.PoolOwner, HeapKind.PoolLease, HeapKind.ArrayPool];

    /// <summary>Returns the table; null where there are too few threads or heaps for it.</summary>
    public static ResultTable? Create(Measurements measurements)
    {
        IReadOnlyList<int> threads = measurements.Options.Threads;
        if (threads.Count < 2 || !s_heaps.All(measurements.Heaps.Contains))
        {
            return null;
        }

        return new ResultTable
        {
            Title = $"Slopes: times with {threads[^1]} threads, divided by those with {threads[0]}",
            Labels = ["size", "figure"],
            Columns =
            [
                .. s_heaps.Select(heap => new ResultColumn(HeapNames.Of(heap), "×", "0.0")),
                new ResultColumn("owner ÷ ArrayPool", "×", "0.00"),
                new ResultColumn("lease ÷ ArrayPool", "×", "0.00"),
            ],
            Rows = [.. measurements.Options.Classes.SelectMany(sizeClass =>
                new[] { Figure.AllocateTime, Figure.FreeTime, Figure.BothTimes }.Select(figure => Row(measurements, sizeClass, figure)))],
        };
    }

    private static ResultRow Row(Measurements measurements, SizeClass sizeClass, Figure figure)
    {
        double?[] slopes = [.. s_heaps.Select(heap => Slope.Of(measurements.Series(sizeClass, heap, figure.Read)))];
        return new ResultRow([sizeClass.Name, figure.Name], [.. slopes, slopes[0] / slopes[2], slopes[1] / slopes[2]]);
    }
}

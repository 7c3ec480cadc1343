using System;
using System.Collections.Generic;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Heaps;
using HeapPerf.Running;
using Measuring.Results;

namespace HeapPerf.Reporting;

/// <summary>The tables of one size class: the figures, and the pool against the others.</summary>
internal sealed class ClassTables
{
    private readonly Measurements _measurements;
    private readonly SizeClass _class;

    /// <summary>Shows what <paramref name="measurements"/> have on <paramref name="sizeClass"/>.</summary>
    public ClassTables(Measurements measurements, SizeClass sizeClass)
    {
        _measurements = measurements;
        _class = sizeClass;
    }

    /// <summary>Returns the figures: a row for each figure and heap, a column for each number of threads, and the slope.</summary>
    public ResultTable Figures()
    {
        IReadOnlyList<int> threads = _measurements.Options.Threads;
        IEnumerable<ResultColumn> columns = threads.Select(Column("0.0"));
        if (threads.Count > 1)
        {
            columns = columns.Append(new ResultColumn($"{threads[^1]} ÷ {threads[0]}", "×", "0.0"));
        }

        return new ResultTable
        {
            Title = $"{_class.Title}: means of {_measurements.Options.Runs} runs",
            Labels = ["figure", "heap"],
            Columns = [.. columns],
            Rows = [.. Figure.All.SelectMany(figure => _measurements.Heaps.Select(heap => Row(figure, heap)))],
        };
    }

    /// <summary>Returns (pool − other) ÷ other, in percent; null where there is no pool or nothing else.</summary>
    public ResultTable? Differences()
    {
        List<ResultRow> rows = [];
        foreach (HeapKind pool in _measurements.Heaps.Where(HeapNames.IsPool))
        {
            foreach (HeapKind other in _measurements.Heaps.Where(heap => !HeapNames.IsPool(heap)))
            {
                rows.AddRange(new[] { Figure.AllocateTime, Figure.FreeTime, Figure.PeakMemory }.Select(figure => new ResultRow(
                    [HeapNames.Of(pool), HeapNames.Of(other), figure.Name],
                    [.. Series(figure, pool).Zip(Series(figure, other), Difference)])));
            }
        }

        return rows.Count == 0 ? null : new ResultTable
        {
            Title = $"{_class.Title}: (pool − other) ÷ other, in percent; negative where the pool takes less",
            Labels = ["pool", "other", "figure"],
            Columns = [.. _measurements.Options.Threads.Select(Column("+0.0;-0.0;0.0", "%"))],
            Rows = rows,
        };
    }

    private static Func<int, ResultColumn> Column(string format, string? unit = null)
        => threads => new ResultColumn(threads == 1 ? "1 thread" : FormattableString.Invariant($"{threads}"), unit, format);

    // A time that is not above the clock's own cost is none, and nothing can be said relative to it.
    private static double? Difference(double? pool, double? other) => other > 0 ? 100 * (pool - other) / other : null;

    private ResultRow Row(Figure figure, HeapKind heap)
    {
        IReadOnlyList<double?> series = Series(figure, heap);
        return new ResultRow([figure.Title, HeapNames.Of(heap)], series.Count > 1 ? [.. series, Slope.Of(series)] : series);
    }

    private IReadOnlyList<double?> Series(Figure figure, HeapKind heap) => _measurements.Series(_class, heap, figure.Read);
}

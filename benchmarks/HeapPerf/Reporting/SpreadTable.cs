using System;
using System.Linq;
using HeapPerf.Children;
using HeapPerf.Heaps;
using HeapPerf.Running;
using Measuring.Results;
using Measuring.Timing;

namespace HeapPerf.Reporting;

/// <summary>How far the runs behind the means differ.</summary>
internal static class SpreadTable
{
    /// <summary>Returns the table; null where a mean is over one run.</summary>
    public static ResultTable? Create(Measurements measurements) => measurements.Options.Runs < 2 ? null : new ResultTable
    {
        Title = "Relative standard deviation of the runs, allocation and free together",
        Labels = ["size", "heap"],
        Columns = [.. measurements.Options.Threads.Select(threads =>
            new ResultColumn(threads == 1 ? "1 thread" : FormattableString.Invariant($"{threads}"), "%", "0"))],
        Rows = [.. measurements.Options.Classes.SelectMany(sizeClass => measurements.Heaps.Select(heap =>
            new ResultRow([sizeClass.Name, HeapNames.Of(heap)], measurements.Series(sizeClass, heap, Spread))))],
    };

    private static double Spread(ChildResult result)
    {
        double[] sums = [.. result.AllocateNanoseconds.Zip(result.FreeNanoseconds, (allocate, free) => allocate + free)];
        return 100 * Statistics.Deviation(sums) / sums.Average();
    }
}

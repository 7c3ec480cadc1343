using System.Collections.Generic;
using System.Linq;
using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Mathematics;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Takes out of BenchmarkDotNet's summaries what the results show.</summary>
internal static class SummaryReader
{
    private const double PerThousand = 1000;

    /// <summary>Reads all cases of <paramref name="summary"/>, those that failed too, in the order of the class's methods.</summary>
    public static IReadOnlyList<MeasuredCase> Read(Summary summary)
        => [.. summary.BenchmarksCases.Select(benchmark => Read(benchmark, summary.HasReport(benchmark) ? summary[benchmark] : null))];

    private static MeasuredCase Read(BenchmarkCase benchmark, BenchmarkReport? report)
    {
        Statistics? times = report is { Success: true } ? report.ResultStatistics : null;
        return new MeasuredCase
        {
            Method = benchmark.Descriptor.WorkloadMethod.Name,
            Description = benchmark.Descriptor.WorkloadMethodDisplayInfo.Trim('\''),
            Parameters = [.. benchmark.Parameters.Items.Select(item => new MeasuredParameter(item.Name, item.Value?.ToString() ?? ""))],
            IsBaseline = benchmark.Descriptor.Baseline,
            Mean = times?.Mean,
            Error = HasSpread(times) ? times!.ConfidenceInterval.Margin : null,
            Deviation = HasSpread(times) ? times!.StandardDeviation : null,
            Collections = times is null ? [] : ReadCollections(report!.GcStats),
            AllocatedBytes = times is null ? null : report!.GcStats.GetBytesAllocatedPerOperation(benchmark),
        };
    }

    // A single iteration has neither deviation nor confidence interval.
    private static bool HasSpread(Statistics? times) => times is { N: > 1 };

    private static IReadOnlyList<double> ReadCollections(GcStats counts)
        => counts.TotalOperations == 0
            ? []
            : [.. new[] { counts.Gen0Collections, counts.Gen1Collections, counts.Gen2Collections }.Select(count => count * PerThousand / counts.TotalOperations)];
}

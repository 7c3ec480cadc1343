using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Measuring.Results;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Draws the times of one class over a parameter.</summary>
internal static class CaseCharts
{
    /// <summary>Makes a chart for each combination of the other parameters: a line for each method, over the parameter that <paramref name="chart"/> names.</summary>
    public static IReadOnlyList<ResultChart> Create(string title, IReadOnlyList<MeasuredCase> cases, ChartOverAttribute chart)
    {
        List<MeasuredCase> measured = [.. cases.Where(measured => measured.Mean is not null)];
        TimeScale scale = TimeScale.For(measured.Select(measured => measured.Mean!.Value));
        return
        [
            .. measured
                .GroupBy(measured => string.Join(", ", measured.Parameters.Where(parameter => parameter.Name != chart.Parameter).Select(Describe)))
                .Select(group => new ResultChart
                {
                    Title = group.Key.Length == 0 ? title : $"{title}, {group.Key}",
                    Kind = ChartKind.Lines,
                    X = chart.Axis,
                    Y = $"mean time of one operation, {scale.Unit}",
                    LogarithmicX = true,
                    LogarithmicY = true,
                    Series = [.. group.GroupBy(measured => measured.Description).Select(method => CreateSeries(method.Key, method, scale, chart.Parameter))],
                }),
        ];
    }

    private static string Describe(MeasuredParameter parameter) => $"{CaseTable.Words(parameter.Name)}: {parameter.Value}";

    private static ResultSeries CreateSeries(string name, IEnumerable<MeasuredCase> cases, TimeScale scale, string parameter)
        => new(name, [.. cases.Select(measured => new ResultPoint(ReadNumber(measured, parameter), scale.Convert(measured.Mean)!.Value)).OrderBy(point => point.X)]);

    private static double ReadNumber(MeasuredCase measured, string parameter)
        => double.Parse(measured.Parameters.Single(candidate => candidate.Name == parameter).Value, CultureInfo.InvariantCulture);
}

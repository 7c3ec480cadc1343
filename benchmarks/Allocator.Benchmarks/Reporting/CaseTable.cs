using System.Collections.Generic;
using System.Linq;
using System.Text;
using Measuring.Results;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Puts the cases of one class into a table.</summary>
internal static class CaseTable
{
    private const int Generations = 3;

    /// <summary>Makes the table. Every case has the same parameters; <paramref name="references"/> are methods whose ratios get a column beside the baseline's.</summary>
    public static ResultTable Create(string title, IReadOnlyList<MeasuredCase> cases, IReadOnlyList<string> references)
    {
        TimeScale scale = TimeScale.For(cases.Select(measured => measured.Mean ?? 0));
        string? baseline = cases.FirstOrDefault(measured => measured.IsBaseline)?.Method;
        string[] compared = [.. new[] { baseline }.OfType<string>().Concat(references)];
        return new ResultTable
        {
            Title = title,
            Labels = [.. cases[0].Parameters.Select(parameter => Words(parameter.Name)), "method"],
            Columns =
            [
                new ResultColumn("mean", scale.Unit, scale.Format),
                new ResultColumn("error", scale.Unit, scale.Format),
                new ResultColumn("stddev", scale.Unit, scale.Format),
                .. compared.Select(method => new ResultColumn($"ratio to {Describe(method, cases)}", null, "N3")),
                .. Enumerable.Range(0, Generations).Select(generation => new ResultColumn($"gen{generation}", "/1k op", "0.0000")),
                new ResultColumn("allocated", "B", "N0"),
            ],
            Rows = [.. GroupByParameters(cases).SelectMany(group => group.Select(measured => CreateRow(measured, scale, [.. compared.Select(method => Find(method, group))])))],
        };
    }

    /// <summary>Returns the cases in groups of equal parameters, which may be compared with each other.</summary>
    public static IEnumerable<IReadOnlyList<MeasuredCase>> GroupByParameters(IEnumerable<MeasuredCase> cases)
        => cases.GroupBy(measured => string.Join(' ', measured.Parameters.Select(parameter => parameter.Value))).Select(group => group.ToList());

    /// <summary>Writes the name of a property as words: <c>SizeInMegabytes</c> is <c>size in megabytes</c>.</summary>
    public static string Words(string name)
    {
        StringBuilder words = new();
        foreach (char letter in name)
        {
            _ = char.IsUpper(letter) && words.Length > 0 ? words.Append(' ') : words;
            _ = words.Append(char.ToLowerInvariant(letter));
        }

        return words.ToString();
    }

    private static MeasuredCase? Find(string method, IReadOnlyList<MeasuredCase> group) => group.FirstOrDefault(measured => measured.Method == method);

    // Where a filter left the method out, nobody has a description of it.
    private static string Describe(string method, IReadOnlyList<MeasuredCase> cases) => Find(method, cases)?.Description ?? method;

    private static ResultRow CreateRow(MeasuredCase measured, TimeScale scale, IReadOnlyList<MeasuredCase?> references) => new(
        [.. measured.Parameters.Select(parameter => parameter.Value), measured.Description],
        [
            scale.Convert(measured.Mean),
            scale.Convert(measured.Error),
            scale.Convert(measured.Deviation),
            .. references.Select(reference => measured.Mean / reference?.Mean),
            .. Enumerable.Range(0, Generations).Select(generation => CollectionsOf(measured, generation)),
            measured.AllocatedBytes,
        ]);

    // No collection at all is shown as a dash, as BenchmarkDotNet does: a zero would claim more than a short run can tell.
    private static double? CollectionsOf(MeasuredCase measured, int generation)
        => generation < measured.Collections.Count && measured.Collections[generation] > 0 ? measured.Collections[generation] : null;
}

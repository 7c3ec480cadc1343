using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using BenchmarkDotNet.Reports;
using Measuring.Results;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Turns what BenchmarkDotNet found for one class into a document like those of the other measurement programs.</summary>
internal static class SummaryDocument
{
    /// <summary>Fills <paramref name="empty"/>, which tells the machine, the date and the command, with the figures of <paramref name="summary"/>.</summary>
    public static ResultDocument Create(Summary summary, ResultDocument empty, IReadOnlyList<string> notes)
    {
        IReadOnlyList<MeasuredCase> cases = SummaryReader.Read(summary);
        Type benchmarks = summary.BenchmarksCases[0].Descriptor.Type;
        string title = benchmarks.GetCustomAttribute<ReportTitleAttribute>()?.Title ?? benchmarks.Name;
        return empty with
        {
            Program = $"Benchmarks.{benchmarks.Name}",
            Title = title,
            Notes = [.. benchmarks.GetCustomAttributes<ReportNoteAttribute>().Select(note => note.Note), .. notes],
            Tables = [CaseTable.Create(title, cases, [.. benchmarks.GetCustomAttributes<AlsoComparedWithAttribute>().Select(reference => reference.Method)])],
            Charts = benchmarks.GetCustomAttribute<ChartOverAttribute>() is { } chart ? CaseCharts.Create(title, cases, chart) : [],
        };
    }
}

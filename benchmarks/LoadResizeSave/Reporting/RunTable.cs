using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using LoadResizeSave.Running;
using Spectre.Console;

namespace LoadResizeSave.Reporting;

/// <summary>The table of results, one line for each allocator, the best figure of each column in green.</summary>
internal static class RunTable
{
    /// <summary>Makes the table.</summary>
    public static Table Create(IReadOnlyList<MeasuredRun> runs)
    {
        Table table = new Table().Border(TableBorder.Rounded).AddColumn("allocator");
        List<string>[] columns =
        [
            Column(table, "photographs\nper second", runs, run => run.Pictures / run.WallSeconds, "0.0", largestIsBest: true),
            Column(table, "megapixels\nper second", runs, run => run.Megapixels / run.WallSeconds, "0", largestIsBest: true),
            Column(table, "CPU\nseconds", runs, run => (run.Cost.UserTime + run.Cost.SystemTime).TotalSeconds, "0.00"),
            Column(table, "of it\nsystem", runs, run => run.Cost.SystemTime.TotalSeconds, "0.00"),
            Column(table, "peak RSS\nMB", runs, run => run.PeakResidentBytes / 1e6, "0"),
            Column(table, "final RSS\nMB", runs, run => run.FinalResidentBytes / 1e6, "0"),
            Column(table, "page\nfaults", runs, run => run.Cost.MinorFaults + run.Cost.MajorFaults, "N0"),
            Column(table, "GC\nMB", runs, run => run.Cost.ManagedBytes / 1e6, "N1"),
        ];
        _ = table.AddColumn(new TableColumn("GCs of\nGen0/1/2").RightAligned());
        for (int i = 0; i < runs.Count; i++)
        {
            ProcessCounters cost = runs[i].Cost;
            _ = table.AddRow([
                JobText.Name(runs[i].Allocator),
                .. columns.Select(column => column[i]),
                string.Create(CultureInfo.InvariantCulture, $"{cost.Gen0}/{cost.Gen1}/{cost.Gen2}"),
            ]);
        }

        return table;
    }

    private static List<string> Column(
        Table table, string title, IReadOnlyList<MeasuredRun> runs, Func<MeasuredRun, double?> read, string format, bool largestIsBest = false)
    {
        _ = table.AddColumn(new TableColumn(title).RightAligned());
        List<double?> values = [.. runs.Select(read)];
        double? best = largestIsBest ? values.Max() : values.Min();
        return
        [
            .. values.Select(value => value switch
            {
                null => "-",
                _ when value == best && runs.Count > 1 => $"[green]{value.Value.ToString(format, CultureInfo.InvariantCulture)}[/]",
                _ => value.Value.ToString(format, CultureInfo.InvariantCulture),
            }),
        ];
    }
}

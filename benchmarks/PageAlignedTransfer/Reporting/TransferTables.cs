using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Measuring.Results;
using PageAlignedTransfer.Transfers;
using PageAlignedTransfer.Ways;

namespace PageAlignedTransfer.Reporting;

/// <summary>Tables and the chart of the reads from the file.</summary>
internal sealed class TransferTables
{
    private static readonly (string Name, Func<TransferPhases, double> Read)[] s_phases =
    [
        ("allocate", phases => phases.Allocate),
        ("populate", phases => phases.Populate),
        ("read", phases => phases.Read),
        ("copy", phases => phases.Copy),
        ("process", phases => phases.Process),
        ("release", phases => phases.Release),
        ("total", phases => phases.Total),
    ];

    private readonly IReadOnlyList<IReadOnlyList<TransferTime>> _sizes;

    /// <summary>Makes tables of <paramref name="sizes"/>: the ways for each size, the one first that the others are compared with.</summary>
    public TransferTables(IReadOnlyList<IReadOnlyList<TransferTime>> sizes) => _sizes = sizes;

    /// <summary>Returns a number of bytes that is a power of two, in the unit that fits.</summary>
    public static string Size(int bytes) => bytes < 1 << 20 ? $"{bytes >> 10} KiB" : $"{bytes >> 20} MiB";

    /// <summary>Makes the document's table for the largest size: phase by phase, unaligned against aligned, and the difference.</summary>
    public ResultTable AsInTheDocument()
    {
        TransferTime aligned = _sizes[^1][0];
        TransferTime unaligned = _sizes[^1].First(time => time.Way == TransferWay.HeapWithBounce);
        return new ResultTable
        {
            Title = $"Phase by phase, {Size(aligned.Bytes)}: unaligned memory with a bounce buffer against page-aligned blocks of the pool",
            Labels = ["operation"],
            Columns = [new(unaligned.Way, "ms", "0.000"), new(aligned.Way, "ms", "0.000"), new("Δ", "ms", "0.000")],
            Rows =
            [
                .. s_phases.Select(phase => (phase.Name, Before: unaligned.Median(phase.Read) / 1000, After: aligned.Median(phase.Read) / 1000))
                    .Select(phase => new ResultRow([phase.Name], [phase.Before, phase.After, phase.After - phase.Before])),
            ],
        };
    }

    /// <summary>Makes the table of all sizes and ways.</summary>
    public ResultTable OfAllWays() => new()
    {
        Title = $"Every size and way; medians of {RoundsText()} rounds, ratio to the pool's total",
        Labels = ["size", "memory"],
        Columns = [.. s_phases.Select(phase => new ResultColumn(phase.Name, "µs", "N1")), new("rate", "MB/s", "N0"), new("ratio", "×", "0.00")],
        Rows =
        [
            .. from size in _sizes
               from time in size
               select new ResultRow(
                   [Size(time.Bytes), time.Way],
                   [
                       .. s_phases.Select(phase => (double?)time.Median(phase.Read)),
                       time.Bytes / time.Median(phases => phases.Total),
                       time.RatioTo(size[0]),
                   ]),
        ],
    };

    /// <summary>Makes the chart: the whole time of each way over the sizes.</summary>
    public ResultChart Chart() => new()
    {
        Title = "Allocate, populate, read a file directly, process, release",
        Kind = ChartKind.Lines,
        X = "size of the transfer, bytes",
        Y = "time, µs",
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. _sizes.SelectMany(size => size).GroupBy(time => time.Way).Select(way => new ResultSeries(
                way.Key, [.. way.Select(time => new ResultPoint(time.Bytes, Math.Round(time.Median(phases => phases.Total), 1)))])),
        ],
    };

    private string RoundsText()
    {
        int least = _sizes.Min(size => size[0].Rounds.Count);
        int most = _sizes.Max(size => size[0].Rounds.Count);
        return least == most ? least.ToString(CultureInfo.InvariantCulture) : $"{least} to {most}";
    }
}

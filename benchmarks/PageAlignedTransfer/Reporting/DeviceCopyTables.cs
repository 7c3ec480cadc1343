using System;
using System.Collections.Generic;
using System.Linq;
using Measuring.Results;
using PageAlignedTransfer.Cuda;

namespace PageAlignedTransfer.Reporting;

/// <summary>The table and the chart of the copies to a CUDA device.</summary>
internal static class DeviceCopyTables
{
    /// <summary>Makes the table of <paramref name="sizes"/>: the kinds of memory for each size, the one first that the others are compared with.</summary>
    public static ResultTable Create(string device, IReadOnlyList<IReadOnlyList<DeviceCopyTime>> sizes) => new()
    {
        Title = $"Copies to {device}; medians, ratio to the unpinned pool",
        Labels = ["size", "memory of the host"],
        Columns =
        [
            new("rounds", null, "0"), new("register", "µs", "N1"), new("copy", "µs", "N1"), new("unregister", "µs", "N1"), new("total", "µs", "N1"),
            new("rate", "MB/s", "N0"), new("ratio", "×", "0.00"),
        ],
        Rows =
        [
            .. from size in sizes
               from time in size
               select new ResultRow(
                   [TransferTables.Size(time.Bytes), NameOf(time.Kind)],
                   [
                       time.Rounds.Count, time.Median(phases => phases.Register), time.Median(phases => phases.Copy),
                       time.Median(phases => phases.Unregister), time.Median(phases => phases.Total),
                       time.Bytes / time.Median(phases => phases.Total), time.RatioTo(size[0]),
                   ]),
        ],
    };

    /// <summary>Makes the chart: the rate of each kind over the sizes.</summary>
    public static ResultChart Chart(IReadOnlyList<IReadOnlyList<DeviceCopyTime>> sizes) => new()
    {
        Title = "Copies from the host to a CUDA device",
        Kind = ChartKind.Lines,
        X = "size of the copy, bytes",
        Y = "rate, MB/s",
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. sizes.SelectMany(size => size).GroupBy(time => time.Kind).Select(kind => new ResultSeries(
                NameOf(kind.Key), [.. kind.Select(time => new ResultPoint(time.Bytes, Math.Round(time.Bytes / time.Median(phases => phases.Total))))])),
        ],
    };

    private static string NameOf(HostMemoryKind kind) => kind switch
    {
        HostMemoryKind.PoolUnpinned => "pool, unpinned",
        HostMemoryKind.PoolRegisteredOnce => "pool, registered once",
        HostMemoryKind.PoolRegisteredEachTime => "pool, registered each time",
        HostMemoryKind.HeapUnpinned => "heap, unpinned",
        HostMemoryKind.HeapRegisteredEachTime => "heap, registered each time",
        HostMemoryKind.DriverPinned => "cuMemHostAlloc",
        _ => kind.ToString(),
    };
}

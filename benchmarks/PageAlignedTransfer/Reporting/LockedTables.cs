using System.Collections.Generic;
using System.Linq;
using Measuring.Results;
using PageAlignedTransfer.Locking;
using PageAlignedTransfer.Transfers;

namespace PageAlignedTransfer.Reporting;

/// <summary>The table of transfers into memory that is locked, once or each time.</summary>
internal static class LockedTables
{
    /// <summary>Makes the table of <paramref name="sizes"/>: the ways for each size, the one first that the others are compared with.</summary>
    public static ResultTable Create(IReadOnlyList<IReadOnlyList<TransferTime>> sizes) => new()
    {
        Title = $"Direct reads into memory locked by {PageLock.CallName}, once or for each transfer; medians, ratio to blocks locked once",
        Labels = ["size", "memory"],
        Columns =
        [
            new("rounds", null, "0"), new("allocate", "µs", "N1"), new("lock", "µs", "N1"), new("populate", "µs", "N1"), new("read", "µs", "N1"), new("process", "µs", "N1"),
            new("unlock", "µs", "N1"), new("release", "µs", "N1"), new("total", "µs", "N1"), new("lock and unlock", "%", "0.0"), new("ratio", "×", "0.00"),
        ],
        Rows =
        [
            .. from size in sizes
               from time in size
               select new ResultRow(
                   [TransferTables.Size(time.Bytes), time.Way],
                   [
                       time.Rounds.Count, time.Median(phases => phases.Allocate), time.Median(phases => phases.Register), time.Median(phases => phases.Populate),
                       time.Median(phases => phases.Read), time.Median(phases => phases.Process), time.Median(phases => phases.Unregister), time.Median(phases => phases.Release),
                       time.Median(phases => phases.Total), time.Median(phases => 100 * (phases.Register + phases.Unregister) / phases.Total), time.RatioTo(size[0]),
                   ]),
        ],
    };
}

namespace Measurements.Transfers;

/// <summary>How long the phases of a transfer took, in microseconds; 0 where there was none.</summary>
/// <param name="Lock">Until the memory was locked.</param>
/// <param name="Populate">The first write to every page.</param>
/// <param name="Copy">The copy out of the bounce buffer.</param>
/// <param name="Process">The checksum.</param>
internal readonly record struct TransferPhases(
    double Allocate, double Lock, double Populate, double Read, double Copy, double Process, double Unlock, double Release)
{
    public double Total => Allocate + Lock + Populate + Read + Copy + Process + Unlock + Release;
}

/// <summary>The transfers of one size by one way, in the order of time.</summary>
internal sealed record TransferTime(string Way, int Bytes, IReadOnlyList<TransferPhases> Rounds)
{
    public double Median(Func<TransferPhases, double> phase) => Statistics.Median(Rounds.Select(phase));

    /// <summary>Returns the median over the rounds of this way's whole time divided by that of the other in the same round.</summary>
    public double RatioTo(TransferTime other)
        => Statistics.Median(Rounds.Zip(other.Rounds, (mine, others) => mine.Total / others.Total));
}

/// <summary>Tables and charts of transfers: the ways for each size, the one first that the others are compared with.</summary>
internal sealed class TransferTables(IReadOnlyList<IReadOnlyList<TransferTime>> sizes)
{
    private static readonly (string Name, Func<TransferPhases, double> Read)[] s_phases =
    [
        ("allocate", phases => phases.Allocate), ("lock", phases => phases.Lock), ("populate", phases => phases.Populate),
        ("read", phases => phases.Read), ("copy", phases => phases.Copy), ("process", phases => phases.Process),
        ("unlock", phases => phases.Unlock), ("release", phases => phases.Release), ("total", phases => phases.Total),
    ];

    /// <summary>Returns a number of bytes that is a power of two, in the unit that fits.</summary>
    public static string Size(int bytes) => bytes < 1 << 20 ? $"{bytes >> 10} KiB" : $"{bytes >> 20} MiB";

    /// <summary>Makes the table for the largest size: phase by phase, unaligned against aligned, and the difference.</summary>
    public ResultTable PhaseByPhase()
    {
        TransferTime aligned = sizes[^1][0];
        TransferTime unaligned = sizes[^1].First(time => time.Way == TransferWay.HeapWithBounce);
        return new ResultTable
        {
            Title = $"Phase by phase, {Size(aligned.Bytes)}: unaligned memory with a bounce buffer against page-aligned blocks of the "
                + "pool",
            Labels = ["operation"],
            Columns = [new(unaligned.Way, "ms", "0.000"), new(aligned.Way, "ms", "0.000"), new("Δ", "ms", "0.000")],
            Rows =
            [
                .. from phase in s_phases
                   let before = unaligned.Median(phase.Read) / 1000
                   let after = aligned.Median(phase.Read) / 1000
                   where before + after > 0
                   select new ResultRow([phase.Name], [before, after, after - before]),
            ],
        };
    }

    public ResultTable All(string title) => new()
    {
        Title = $"{title}; medians, ratio to {sizes[0][0].Way}",
        Labels = ["size", "memory"],
        Columns =
        [
            new("rounds", null, "0"), .. s_phases.Select(phase => new ResultColumn(phase.Name, "µs", "N1")), new("rate", "MB/s", "N0"),
            new("ratio", "×", "0.00"),
        ],
        Rows =
        [
            .. from size in sizes
               from time in size
               select new ResultRow(
                   [Size(time.Bytes), time.Way],
                   [
                       time.Rounds.Count, .. s_phases.Select(phase => (double?)time.Median(phase.Read)),
                       time.Bytes / time.Median(phases => phases.Total), time.RatioTo(size[0]),
                   ]),
        ],
    };

    /// <summary>Makes the chart of the whole time of each way over the sizes.</summary>
    public ResultChart TimeChart() => new()
    {
        Title = "Allocate, populate, read a file directly, process, release",
        Kind = ChartKind.Lines,
        X = "size of the transfer, bytes",
        Y = "time, µs",
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. from time in sizes.SelectMany(size => size)
               group time by time.Way into way
               select new ResultSeries(
                   way.Key, [.. way.Select(time => new ResultPoint(time.Bytes, Math.Round(time.Median(phases => phases.Total), 1)))]),
        ],
    };
}

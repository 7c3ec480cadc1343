namespace Measurements.Transfers;

/// <summary>Tables and charts of transfers: the ways for each size, the one first that the others are compared with.</summary>
internal sealed class TransferTables(IReadOnlyList<IReadOnlyList<TransferTime>> sizes)
{
    private static readonly Dictionary<string, Func<TransferPhases, double>> s_phases = new()
    {
        ["allocate"] = phases => phases.Allocate,
        ["lock"] = phases => phases.Register,
        ["register"] = phases => phases.Register,
        ["populate"] = phases => phases.Populate,
        ["read"] = phases => phases.Read,
        ["copy"] = phases => phases.Copy,
        ["process"] = phases => phases.Process,
        ["unlock"] = phases => phases.Unregister,
        ["unregister"] = phases => phases.Unregister,
        ["release"] = phases => phases.Release,
        ["total"] = phases => phases.Total,
    };

    private static readonly string[] s_ofFile = ["allocate", "populate", "read", "copy", "process", "release", "total"];
    private static readonly string[] s_ofLocked =
        ["allocate", "lock", "populate", "read", "process", "unlock", "release", "total"];

    private static readonly string[] s_ofDevice = ["register", "copy", "unregister", "total"];

    private static readonly (ResultColumn Column, Func<TransferTime, TransferTime, double> Read) s_rounds =
        (new("rounds", null, "0"), (time, _) => time.Rounds.Count);

    private static readonly (ResultColumn Column, Func<TransferTime, TransferTime, double> Read) s_rate =
        (new("rate", "MB/s", "N0"), (time, _) => time.Rate);

    private static readonly (ResultColumn Column, Func<TransferTime, TransferTime, double> Read) s_ratio =
        (new("ratio", "×", "0.00"), (time, first) => time.RatioTo(first));

    private static readonly (ResultColumn Column, Func<TransferTime, TransferTime, double> Read) s_lockShare = (
        new("lock and unlock", "%", "0.0"),
        (time, _) => time.Median(phases => 100 * (phases.Register + phases.Unregister) / phases.Total));

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
                .. from phase in s_ofFile
                   let before = unaligned.Median(s_phases[phase]) / 1000
                   let after = aligned.Median(s_phases[phase]) / 1000
                   select new ResultRow([phase], [before, after, after - before]),
            ],
        };
    }

    public ResultTable OfFile()
    {
        int least = sizes.Min(size => size[0].Rounds.Count);
        int most = sizes.Max(size => size[0].Rounds.Count);
        string rounds = least == most ? $"{least}" : $"{least} to {most}";
        return Table(
            $"Every size and way; medians of {rounds} rounds, ratio to the pool's total", "memory", [.. Phases(s_ofFile), s_rate, s_ratio]);
    }

    public ResultTable OfLocked() => Table(
        $"Direct reads into memory locked by {PageLock.CallName}, once or for each transfer; medians, ratio to blocks locked once",
        "memory",
        [s_rounds, .. Phases(s_ofLocked), s_lockShare, s_ratio]);

    public ResultTable OfDevice(string device) => Table(
        $"Copies to {device}; medians, ratio to the unpinned pool", "memory of the host", [s_rounds, .. Phases(s_ofDevice), s_rate, s_ratio]);

    /// <summary>Makes the chart of the whole time of each way over the sizes.</summary>
    public ResultChart TimeChart() => Chart(
        "Allocate, populate, read a file directly, process, release",
        "size of the transfer, bytes",
        "time, µs",
        time => Math.Round(time.Median(phases => phases.Total), 1));

    /// <summary>Makes the chart of the rate of each kind of memory over the sizes.</summary>
    public ResultChart RateChart() => Chart(
        "Copies from the host to a CUDA device", "size of the copy, bytes", "rate, MB/s", time => Math.Round(time.Rate));

    private static IEnumerable<(ResultColumn Column, Func<TransferTime, TransferTime, double> Read)> Phases(string[] names)
        => names.Select(name => (
            new ResultColumn(name, "µs", "N1"), (Func<TransferTime, TransferTime, double>)((time, _) => time.Median(s_phases[name]))));

    private ResultTable Table(
        string title, string label, IReadOnlyList<(ResultColumn Column, Func<TransferTime, TransferTime, double> Read)> columns)
        => new()
        {
            Title = title,
            Labels = ["size", label],
            Columns = [.. columns.Select(column => column.Column)],
            Rows =
            [
                .. from size in sizes
                   from time in size
                   select new ResultRow([Size(time.Bytes), time.Way], [.. columns.Select(column => (double?)column.Read(time, size[0]))]),
            ],
        };

    private ResultChart Chart(string title, string x, string y, Func<TransferTime, double> read) => new()
    {
        Title = title,
        Kind = ChartKind.Lines,
        X = x,
        Y = y,
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. sizes.SelectMany(size => size).GroupBy(time => time.Way).Select(way => new ResultSeries(
                way.Key, [.. way.Select(time => new ResultPoint(time.Bytes, read(time)))])),
        ],
    };
}

namespace Measurements.Fragmentation;

/// <summary>What a child is to measure.</summary>
internal sealed record BurstRequest(SubjectKind Subject, int Blocks);

/// <summary>
/// The resident set in one wave, in bytes above what it was before the first: with all blocks, with most of them returned, with idle
/// memory released too, and in the last wave after <c>malloc_trim</c>.
/// </summary>
internal sealed record BurstWave(long Full, long Returned, long Released, long? Trimmed);

/// <summary>What a child measured, with what is live at the end of each wave, in bytes.</summary>
internal sealed record BurstReport(SubjectKind Subject, int Blocks, long LiveBytes, IReadOnlyList<BurstWave> Waves);

/// <summary>
/// Waves of load: each allocates many blocks, writes to them, returns all but every tenth and releases what is idle. The tenth that stays
/// pins what lies below it in a heap that grows and shrinks at its end.
/// </summary>
internal static class BurstRun
{
    public const int Waves = 3;
    private const int KeptEvery = 10;

    // 1024 × 1024 pixels of 4 bytes are the 4 MiB of a block of the pool.
    private const int Side = 1024;
    private const long BlockBytes = (long)Side * Side * sizeof(uint);

    public static ChildTask<BurstRequest, BurstReport> Task { get; } =
        new("burst", MeasurementJson.Default.BurstRequest, MeasurementJson.Default.BurstReport, Run);

    private static BurstReport Run(BurstRequest request)
    {
        using MemorySubject subject = MemorySubject.Create(request.Subject);
        subject.WarmUp();
        long baseline = ProcessMemory.ReadResident();
        List<BurstWave> waves = [];
        List<HeldImage> live = [];
        for (int wave = 0; wave < Waves; wave++)
        {
            live.ForEach(image => image.Dispose());
            live.Clear();
            waves.Add(RunWave(subject, request.Blocks, live, baseline));
        }

        // Only now: the waves show what happens without it.
        if (NativeHeap.TryTrim())
        {
            waves[^1] = waves[^1] with { Trimmed = ProcessMemory.ReadResident() - baseline };
        }

        live.ForEach(image => image.Dispose());
        return new BurstReport(request.Subject, request.Blocks, request.Blocks / KeptEvery * BlockBytes, waves);
    }

    private static BurstWave RunWave(MemorySubject subject, int blocks, List<HeldImage> live, long baseline)
    {
        HeldImage[] burst = [.. Enumerable.Range(0, blocks).Select(_ => subject.Allocate(Side, Side))];
        long full = ProcessMemory.ReadResident();
        for (int i = 0; i < burst.Length; i++)
        {
            if (i % KeptEvery == 3)
            {
                live.Add(burst[i]);
            }
            else
            {
                burst[i].Dispose();
            }
        }

        long returned = ProcessMemory.ReadResident();
        subject.ReleaseIdle();
        return new BurstWave(full - baseline, returned - baseline, ProcessMemory.ReadResident() - baseline, Trimmed: null);
    }
}

/// <summary>The table and the chart of the waves of bursts.</summary>
internal static class BurstTable
{
    /// <summary>What the third wave may leave resident above what is live, in bytes.</summary>
    public const long Aim = 8_000_000;

    private const double Megabyte = 1e6;

    public static ResultTable Create(IReadOnlyList<BurstReport> reports) => new()
    {
        Title = $"Resident set in {BurstRun.Waves} waves of {reports[0].Blocks} blocks of 4 MiB, touched, nine in ten returned, idle "
            + "memory released; "
            + $"live then: {reports[0].LiveBytes / Megabyte:0.0} MB; aim: at most {Aim / Megabyte:0} MB above it in the third",
        Labels = ["memory from", "wave"],
        Columns =
        [
            new("all out", "MB", "N1"), new("nine in ten returned", "MB", "N1"), new("released", "MB", "N1"),
            new("released, above live", "MB", "N1"), new("trimmed, above live", "MB", "N1"),
        ],
        Rows =
        [
            .. from report in reports
               from wave in report.Waves.Index()
               select new ResultRow(
                   [MemorySubject.NameOf(report.Subject), $"{wave.Index + 1}"],
                   [
                       wave.Item.Full / Megabyte, wave.Item.Returned / Megabyte, wave.Item.Released / Megabyte,
                       (wave.Item.Released - report.LiveBytes) / Megabyte, (wave.Item.Trimmed - report.LiveBytes) / Megabyte,
                   ]),
        ],
    };

    /// <summary>Makes the chart: what is left above what is live, wave by wave.</summary>
    public static ResultChart Chart(IReadOnlyList<BurstReport> reports) => new()
    {
        Title = "Resident above what is live, after a burst was returned and released",
        Kind = ChartKind.Bars,
        X = "wave",
        Y = "resident set above live, MB",
        Categories = [.. Enumerable.Range(1, BurstRun.Waves).Select(wave => $"{wave}")],
        Series =
        [
            .. reports.Select(report => new ResultSeries(
                MemorySubject.NameOf(report.Subject),
                [.. report.Waves.Select((wave, i) => new ResultPoint(i, (wave.Released - report.LiveBytes) / Megabyte))])),
        ],
    };
}

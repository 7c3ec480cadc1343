namespace Measurements.Fragmentation;

/// <summary>What a child is to measure.</summary>
internal sealed record BurstRequest(SubjectKind Subject, int Blocks);

/// <summary>
/// The resident set in one wave, in bytes above what it was before the first: with all blocks, with most of them returned, with idle
/// memory released too.
/// </summary>
internal sealed record BurstWave(long Full, long Returned, long Released);

/// <summary>What a child measured, with what is live at the end of each wave, in bytes.</summary>
internal sealed record BurstReport(SubjectKind Subject, int Blocks, long LiveBytes, IReadOnlyList<BurstWave> Waves);

/// <summary>
/// Waves of load: each allocates many blocks, writes to them, returns all but every tenth and releases what is idle.
/// The tenth that stays pins what lies below it in a heap that grows and shrinks at its end.
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
        return new BurstWave(full - baseline, returned - baseline, ProcessMemory.ReadResident() - baseline);
    }
}

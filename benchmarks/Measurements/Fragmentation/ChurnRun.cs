namespace Measurements.Fragmentation;

/// <summary>What a child is to measure: a pattern, ended early once so many bytes are resident.</summary>
internal sealed record ChurnRequest(string Pattern, SubjectKind Subject, int Iterations, long ResidentLimit, int Seed);

/// <summary>What a child measured, in bytes.</summary>
/// <param name="Iterations">How many were done; fewer than asked for where the resident set reached the limit.</param>
/// <param name="Start">Before the first iteration.</param>
/// <param name="End">After the last, with the live images and small allocations still held.</param>
/// <param name="LiveBytes">What was held at the end, as it was asked for.</param>
/// <param name="Released">After all was released, and idle memory given back where there is a way to.</param>
internal sealed record ChurnReport(
    string Pattern,
    SubjectKind Subject,
    int Iterations,
    double Seconds,
    MemoryReading Start,
    MemoryReading End,
    long LiveBytes,
    MemoryReading Released,
    long PeakResident,
    IReadOnlyList<ChurnSample> Samples);

/// <summary>The resident set after a number of iterations.</summary>
internal sealed record ChurnSample(int Iteration, long Resident);

/// <summary>What the process occupied at one moment, in bytes; the commit charge is null where the system does not tell.</summary>
internal sealed record MemoryReading(long Resident, long? Committed, long? PeakCommitted)
{
    /// <summary>Reads the process's memory; <paramref name="peakCommitted"/> is the caller's.</summary>
    public static MemoryReading Now(long? peakCommitted = null)
    {
        long? committed = ProcessMemory.ReadCommitted();
        bool isPeak = committed > peakCommitted || peakCommitted is null;
        return new MemoryReading(ProcessMemory.ReadResident(), committed, isPeak ? committed : peakCommitted);
    }
}

/// <summary>Runs a pattern on one source of memory, in a process that does nothing else.</summary>
internal sealed class ChurnRun(ChurnRequest request)
{
    private const int Samples = 400;

    private readonly ChurnPattern _pattern = ChurnPattern.All.Single(pattern => pattern.Name == request.Pattern);
    private readonly List<ChurnSample> _samples = new(Samples + 1);
    private readonly Lock _sampling = new();
    private long _peakCommitted = -1;
    private int _done;
    private volatile bool _stopped;

    public static ChildTask<ChurnRequest, ChurnReport> Task { get; } = new(
        "churn", MeasurementJson.Default.ChurnRequest, MeasurementJson.Default.ChurnReport, static request => new ChurnRun(request).Run());

    private ChurnReport Run()
    {
        using MemorySubject subject = MemorySubject.Create(request.Subject);
        ChurnThread[] threads =
        [
            .. Enumerable.Range(0, _pattern.Threads).Select(i => new ChurnThread(_pattern, subject, request.Seed + i)),
        ];
        subject.WarmUp();
        MemoryReading start = MemoryReading.Now();
        long began = Stopwatch.GetTimestamp();
        RunAll(threads);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        MemoryReading end = MemoryReading.Now(_peakCommitted < 0 ? null : _peakCommitted);
        long live = threads.Sum(thread => thread.LiveBytes);
        foreach (ChurnThread thread in threads)
        {
            thread.Dispose();
        }

        subject.ReleaseIdle();
        MemoryReading released = MemoryReading.Now(end.PeakCommitted);

        // The system's own peak lags behind by what each core has not yet folded in.
        long peak = Math.Max(Math.Max(ProcessMemory.ReadPeakResident(), end.Resident), _samples.Max(sample => sample.Resident));
        return new ChurnReport(
            request.Pattern, request.Subject, Math.Min(_done, request.Iterations), seconds, start, end, live, released, peak, _samples);
    }

    private void RunAll(ChurnThread[] threads)
    {
        List<Thread> others = [.. threads.Skip(1).Select(thread => new Thread(() => RunOne(thread)) { IsBackground = true })];
        others.ForEach(other => other.Start());
        RunOne(threads[0]);
        others.ForEach(other => other.Join());
    }

    // Each thread does its share and not what is left: the orders of sizes and releases are then the same in every run.
    private void RunOne(ChurnThread thread)
    {
        int every = Math.Max(1, request.Iterations / Samples);
        int share = request.Iterations / _pattern.Threads;
        for (int i = 0; i < share && !_stopped; i++)
        {
            thread.Iterate(NoteCommitted);
            int done = Interlocked.Increment(ref _done);
            if (done % every == 0)
            {
                Sample(done);
            }
        }
    }

    private void NoteCommitted()
    {
        if (ProcessMemory.ReadCommitted() is { } committed)
        {
            long known = Volatile.Read(ref _peakCommitted);
            while (committed > known)
            {
                known = Interlocked.CompareExchange(ref _peakCommitted, committed, known) is var seen && seen == known ? committed : seen;
            }
        }
    }

    private void Sample(int done)
    {
        lock (_sampling)
        {
            long resident = ProcessMemory.ReadResident();
            _samples.Add(new ChurnSample(done, resident));
            _stopped |= resident > request.ResidentLimit;
        }
    }
}

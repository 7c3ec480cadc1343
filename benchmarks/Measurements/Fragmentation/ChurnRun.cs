namespace Measurements.Fragmentation;

/// <summary>What a child is to measure: a pattern, ended early once so many bytes are resident.</summary>
internal sealed record ChurnRequest(string Pattern, SubjectKind Subject, int Iterations, long ResidentLimit, int Seed);

/// <summary>What a child measured. The resident set is in bytes.</summary>
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
    long Start,
    long End,
    long LiveBytes,
    long Released,
    long Peak,
    IReadOnlyList<ChurnSample> Samples);

/// <summary>The resident set after a number of iterations.</summary>
internal sealed record ChurnSample(int Iteration, long Resident);

/// <summary>Runs a pattern on one source of memory, in a process that does nothing else.</summary>
internal sealed class ChurnRun(ChurnRequest request)
{
    private const int Samples = 400;

    private readonly ChurnPattern _pattern = ChurnPattern.All.Single(pattern => pattern.Name == request.Pattern);
    private readonly List<ChurnSample> _samples = new(Samples + 1);
    private readonly Lock _sampling = new();
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
        long start = ProcessMemory.ReadResident();
        long began = Stopwatch.GetTimestamp();
        RunAll(threads);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        long end = ProcessMemory.ReadResident();
        long live = threads.Sum(thread => thread.LiveBytes);
        foreach (ChurnThread thread in threads)
        {
            thread.Dispose();
        }

        subject.ReleaseIdle();
        long released = ProcessMemory.ReadResident();

        // The system's own peak lags behind by what each core has not yet folded in.
        long peak = Math.Max(Math.Max(ProcessMemory.ReadPeakResident(), end), _samples.Max(sample => sample.Resident));
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
            thread.Iterate();
            int done = Interlocked.Increment(ref _done);
            if (done % every == 0)
            {
                Sample(done);
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

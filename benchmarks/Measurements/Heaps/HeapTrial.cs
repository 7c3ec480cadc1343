using System.Runtime;

namespace Measurements.Heaps;

/// <summary>What a child is to measure: one heap with one size class and one number of threads.</summary>
/// <param name="WarmUpMilliseconds">How long one thread runs before at most, so that the compiler is done.</param>
internal sealed record HeapRequest(
    HeapKind Heap, SizeClass Class, int Threads, int Runs, double RunMilliseconds, double WarmUpMilliseconds);

/// <summary>What a child found.</summary>
internal sealed record HeapResult
{
    /// <summary>Gets why the heap cannot be had on this system; null where it can.</summary>
    public string? Unavailable { get; init; }

    public string? Version { get; init; }

    /// <summary>Gets the time of an allocation in each run, the clock's cost subtracted: as many milliseconds a million.</summary>
    public IReadOnlyList<double> AllocateNanoseconds { get; init; } = [];

    public IReadOnlyList<double> FreeNanoseconds { get; init; } = [];

    /// <summary>Gets what one reading of the clock cost.</summary>
    public double ClockNanoseconds { get; init; }

    public long PeakBytes { get; init; }

    /// <summary>Gets the peak before the first allocation, with all threads started.</summary>
    public long IdleBytes { get; init; }
}

/// <summary>The child process: measures one heap.</summary>
internal sealed class HeapTrial
{
    private const int Trials = 3;
    private const double TooShort = 0.2;
    private const int MaximumBatches = 1 << 22;
    private const int QuietRounds = 6;

    private static readonly TimeSpan s_warmUpSample = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_compilerTurn = TimeSpan.FromMilliseconds(10);

    private readonly HeapRequest _request;
    private int _active;
    private bool _isMeasuring;
    private int _runs = 1;
    private int _awaited;
    private int _arrived;
    private int _done;

    private HeapTrial(HeapRequest request) => _request = request;

    public static ChildTask<HeapRequest, HeapResult> Task { get; } = new(
        "heap",
        MeasurementJson.Default.HeapRequest,
        MeasurementJson.Default.HeapResult,
        static request => new HeapTrial(request).Measure());

    /// <summary>Sets what a child needs from its start.</summary>
    public static void Prepare(ProcessStartInfo start)
    {
        NativeAllocator.Prepare(start);

        // 10 ms, in hexadecimal as the runtime reads it. By default the compiler waits until nothing new has been called for 100 ms
        // before it counts calls, and a child's code would be slow for much of its short life.
        start.Environment["DOTNET_TC_CallCountingDelayMs"] = "0A";
    }

    private HeapResult Measure()
    {
        using BatchTeam? heap = BatchTeam.TryCreate(_request.Heap, _request.Class, _request.Threads, out string? reason);
        return heap is null ? new HeapResult { Unavailable = reason } : Measure(heap);
    }

    private HeapResult Measure(BatchTeam heap)
    {
        using ThreadTeam threads = new(_request.Threads, (index, batches) =>
        {
            if (index < _active)
            {
                RunTogether(heap.Workers[index], batches);
            }
        });
        double clock = MeasureClock();
        long idle = ProcessMemory.ReadPeakResident();
        WarmUp(threads);
        _active = _request.Threads;
        int batches = FindBatches(threads, TimeSpan.FromMilliseconds(_request.RunMilliseconds), 1);

        // The first run is left out: whatever a heap does only once with so many threads, it does there.
        _runs = _request.Runs + 1;
        _isMeasuring = true;
        RunTeam(threads, batches);
        double nanosecondsPerTick = 1e9 / Stopwatch.Frequency;
        double PerBlock(int run, Func<(long Allocate, long Free), long> half)
            => nanosecondsPerTick * (heap.Workers.Average(worker => half(worker.Runs[run])) / batches - clock) / _request.Class.Blocks;
        return new HeapResult
        {
            Version = heap.Version,
            AllocateNanoseconds = [.. Enumerable.Range(1, _request.Runs).Select(run => PerBlock(run, ticks => ticks.Allocate))],
            FreeNanoseconds = [.. Enumerable.Range(1, _request.Runs).Select(run => PerBlock(run, ticks => ticks.Free))],
            ClockNanoseconds = nanosecondsPerTick * clock,
            PeakBytes = ProcessMemory.ReadPeakResident(),
            IdleBytes = idle,
        };
    }

    // The ticks between two readings with nothing between them: the clock costs more than an allocation from a warm pool.
    private static double MeasureClock()
    {
        const int Rounds = 31;
        const int Readings = 4096;
        return Statistics.Median(Enumerable.Range(0, Rounds).Select(_ =>
        {
            long ticks = 0;
            for (int i = 0; i < Readings; i++)
            {
                long start = Stopwatch.GetTimestamp();
                ticks += Stopwatch.GetTimestamp() - start;
            }

            return (double)ticks / Readings;
        }));
    }

    // Until the compiler has had nothing to do for a while. First one thread runs alone, with pauses: behind many threads the
    // compiler would wait long for its turn. It is one of the team, because what a heap keeps for each thread counts for the peak.
    private void WarmUp(ThreadTeam threads)
    {
        _active = 1;
        int batches = 1;
        int quietRounds = 0;
        long start = Stopwatch.GetTimestamp();
        while (quietRounds < QuietRounds && Stopwatch.GetElapsedTime(start).TotalMilliseconds < _request.WarmUpMilliseconds)
        {
            long compiled = JitInfo.GetCompiledMethodCount();
            batches = FindBatches(threads, s_warmUpSample, batches);
            Thread.Sleep(s_compilerTurn);
            quietRounds = JitInfo.GetCompiledMethodCount() == compiled ? quietRounds + 1 : 0;
        }
    }

    // Finds how many batches of each thread fill a run. The best of some trials counts: a disturbed one would make all runs too short.
    private int FindBatches(ThreadTeam threads, TimeSpan sample, int batches)
    {
        while (true)
        {
            double part = double.MaxValue;
            for (int trial = 0; trial < Trials && part > TooShort; trial++)
            {
                long start = Stopwatch.GetTimestamp();
                RunTeam(threads, batches);
                part = Math.Min(part, Stopwatch.GetElapsedTime(start) / sample);
            }

            if (part > TooShort || batches == MaximumBatches)
            {
                return (int)Math.Clamp(batches / part, 1, MaximumBatches);
            }

            batches = (int)Math.Min(batches * Math.Clamp(0.5 / part, 2, 16), MaximumBatches);
        }
    }

    private void RunTeam(ThreadTeam threads, int batches)
    {
        _awaited += _active;
        threads.Run(checked(batches * _request.Threads));
    }

    // The team's threads wake one after the other, and some are done before others. Nothing is counted before all have woken, and a thread
    // that is done goes on, uncounted, until all are. That would be most of the time of the short runs of the calibration, which do
    // without.
    private void RunTogether(BatchWorker worker, int batches)
    {
        int all = _awaited;
        _ = Interlocked.Increment(ref _arrived);
        while (Volatile.Read(ref _arrived) < all)
        {
            _ = Thread.Yield();
        }

        worker.Run(_runs, batches);
        _ = Interlocked.Increment(ref _done);
        while (_isMeasuring && Volatile.Read(ref _done) < all)
        {
            _ = worker.RunBatch();
        }
    }
}

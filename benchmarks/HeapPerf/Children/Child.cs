using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime;
using System.Text.Json;
using System.Threading;
using HeapPerf.Batches;
using HeapPerf.Heaps;
using Measuring.Processes;
using Measuring.Timing;

namespace HeapPerf.Children;

/// <summary>The child process: measures one heap with one size class and one number of threads.</summary>
internal sealed class Child
{
    private const int Trials = 3;
    private const double TooShort = 0.2;
    private const int MaximumBatches = 1 << 22;
    private const int QuietRounds = 6;

    private static readonly TimeSpan s_warmUpSample = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_compilerTurn = TimeSpan.FromMilliseconds(10);

    private readonly ChildRequest _request;
    private int _active;
    private bool _isMeasuring;
    private int _runs = 1;
    private int _awaited;
    private int _arrived;
    private int _done;

    private Child(ChildRequest request) => _request = request;

    /// <summary>Does what <paramref name="request"/> says, in JSON, and writes the result to the output.</summary>
    public static void Run(string request)
    {
        ChildProgram.EndWithParent();
        Child child = new(JsonSerializer.Deserialize(request, ChildJson.Default.ChildRequest)!);
        Console.WriteLine(JsonSerializer.Serialize(child.Measure(), ChildJson.Default.ChildResult));
    }

    private ChildResult Measure()
    {
        try
        {
            using BatchTeam heap = BatchTeam.Create(_request.Heap, _request.Class, _request.Threads);
            return Measure(heap);
        }
        catch (HeapUnavailableException exception)
        {
            return new ChildResult { Unavailable = exception.Message };
        }
    }

    private ChildResult Measure(BatchTeam heap)
    {
        using ThreadTeam threads = new(_request.Threads, (index, batches) =>
        {
            if (index < _active)
            {
                RunTogether(heap.Workers[index], batches);
            }
        });
        double clock = ClockCost.Measure();
        long idle = PeakMemory.Read();

        WarmUp(threads);
        _active = _request.Threads;
        int batches = FindBatches(threads, TimeSpan.FromMilliseconds(_request.RunMilliseconds), 1);

        // The first run is left out: whatever a heap does only once with so many threads, it does there.
        _runs = _request.Runs + 1;
        _isMeasuring = true;
        RunTeam(threads, batches);

        double nanosecondsPerTick = 1e9 / Stopwatch.Frequency;
        double PerBlock(int run, Func<RunTicks, long> half)
            => nanosecondsPerTick * (heap.Workers.Average(worker => half(worker.Runs[run])) / batches - clock) / _request.Class.Blocks;
        return new ChildResult
        {
            Version = heap.Version,
            AllocateNanoseconds = [.. Enumerable.Range(1, _request.Runs).Select(run => PerBlock(run, ticks => ticks.Allocate))],
            FreeNanoseconds = [.. Enumerable.Range(1, _request.Runs).Select(run => PerBlock(run, ticks => ticks.Free))],
            Batches = batches,
            ClockNanoseconds = nanosecondsPerTick * clock,
            PeakBytes = PeakMemory.Read(),
            IdleBytes = idle,
        };
    }

    // Until the compiler has had nothing to do for a while. First one thread runs alone, with pauses: behind 128 threads the
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

    // The team's threads wake one after the other, and some are done before others. Nothing is counted before all have woken,
    // and who is done goes on, uncounted, until all are. That would be most of the time of the short runs of the calibration, which do without.
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
            worker.RunUncounted();
        }
    }
}

using System.Diagnostics;

namespace HeapPerf.Batches;

/// <summary>One thread's part of the work: batches of allocations, then as many frees, each half timed as a whole.</summary>
internal abstract class BatchWorker
{
    /// <summary>Gets the times of the last call of <see cref="Run"/>, one for each run.</summary>
    public RunTicks[] Runs { get; private set; } = [];

    /// <summary>Does <paramref name="runs"/> runs of <paramref name="batches"/> batches each, without a pause between them.</summary>
    public void Run(int runs, int batches)
    {
        // Summed up in locals, and kept in an array of the thread's own: workers are neighbours in memory, and would share cache lines.
        RunTicks[] times = new RunTicks[runs];
        for (int run = 0; run < times.Length; run++)
        {
            times[run] = RunBatches(batches);
        }

        Runs = times;
    }

    /// <summary>Does a batch that does not count.</summary>
    public void RunUncounted() => _ = RunBatch();

    /// <summary>Allocates and frees one batch, and returns the time between the two.</summary>
    protected abstract long RunBatch();

    private RunTicks RunBatches(int batches)
    {
        long allocateTicks = 0;
        long freeTicks = 0;
        for (int i = 0; i < batches; i++)
        {
            long start = Stopwatch.GetTimestamp();
            long middle = RunBatch();
            long end = Stopwatch.GetTimestamp();
            allocateTicks += middle - start;
            freeTicks += end - middle;
        }

        return new RunTicks(allocateTicks, freeTicks);
    }
}

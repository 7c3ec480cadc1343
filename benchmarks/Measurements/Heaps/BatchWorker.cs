namespace Measurements.Heaps;

/// <summary>One thread's part of the work: batches of allocations, then as many frees, each half timed as a whole.</summary>
internal abstract class BatchWorker
{
    /// <summary>
    /// Gets the times of the last call of <see cref="Run"/>, in ticks, one for each run, with one reading of the clock a batch in each
    /// half.
    /// </summary>
    public (long Allocate, long Free)[] Runs { get; private set; } = [];

    /// <summary>Does <paramref name="runs"/> runs of <paramref name="batches"/> batches each, without a pause between them.</summary>
    public void Run(int runs, int batches)
    {
        // Summed up in locals, and kept in an array of the thread's own: workers are neighbours in memory, and would share cache lines.
        (long Allocate, long Free)[] times = new (long, long)[runs];
        for (int run = 0; run < times.Length; run++)
        {
            times[run] = RunBatches(batches);
        }

        Runs = times;
    }

    /// <summary>Allocates and frees one batch, and returns the time between the two.</summary>
    public abstract long RunBatch();

    private (long Allocate, long Free) RunBatches(int batches)
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

        return (allocateTicks, freeTicks);
    }
}

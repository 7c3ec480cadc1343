namespace Measurements.Heaps;

/// <summary>What a reader of the figures must know.</summary>
/// <param name="Figures">The figures.</param>
/// <param name="ShortestRun">The least time of a run, in milliseconds.</param>
/// <param name="ThreadTime">The processor time that each thread has in a run at least, in milliseconds.</param>
internal sealed record HeapNotes(HeapFigures Figures, double ShortestRun, double ThreadTime)
{
    public IEnumerable<string> Write()
    {
        yield return "How to read: AllocTime and FreeTime are the time that a thread waits for a million allocations or frees, in ms "
            + "(for one: in ns), "
            + "means over all threads and runs. It is time on the clock: once there are more threads than cores, it grows by "
            + $"threads ÷ cores ({Environment.ProcessorCount} here) for a heap that scales perfectly, as threads wait for their turn "
            + "in the middle of a batch.";
        yield return $"A batch allocates, then frees, the last block first. The two halves are timed as a whole, and the clock's own cost "
                + $"(here {Figures.ClockNanoseconds:0} ns a reading, "
            + "measured in each process) is subtracted from each.";
        yield return $"Each heap, size and number of threads has a process of its own. Its threads begin together and do {Figures.Runs} "
                + "runs, and one before that is not counted, "
            + $"without a pause between them: each has about {ThreadTime:0.#} ms of processor time for each thread, and "
                    + $"{ShortestRun:0} ms in all at least. "
            + "Runs with a pause between them would end within a thread's time slice, and no wait would be seen.";
        yield return "\"Not touched\" is the cost of the call alone: freed memory above a heap's thresholds goes back to the system, "
            + "and its page faults would come later. "
            + "\"Touched\" has them in AllocTime: one byte of each page is written as soon as the block is there.";
        yield return "PeakMem is the largest resident size of the whole process; \"of which heap\" leaves out what it was with all "
            + "threads started and nothing allocated. "
            + "Threads' own stacks, compiled code and garbage of the runs are in both. It is what the threads happened to hold at "
            + "once, and what the heap kept.";
        yield return "The pool serves up to 1 MiB from ArrayPool<byte>.Shared, with a guard against misuse on top, and 4 MiB from its "
            + "blocks; "
            + "it is made large enough for all that is held. "
            + "The owner is an object for the GC, and up to 1 MiB so are the guards of what is held beyond the few that each thread "
            + "keeps: "
            + "collections are within the times, garbage is within PeakMem. ArrayPool keeps 32 arrays of a size for each core and "
            + "drops the rest.";
        yield return "Native heaps are called through function pointers with the transition out of managed code that NativeMemory "
            + "makes too; "
            + "none replaces the process's own malloc.";
        string versions = string.Join(", ", Figures.Heaps
            .Where(heap => Figures.Version(heap) is not null).Select(heap => $"{HeapNames.Of(heap)} {Figures.Version(heap)}"));
        if (versions.Length > 0)
        {
            yield return $"Versions: {versions}.";
        }
    }
}

using System;
using System.Collections.Generic;
using System.Linq;
using HeapPerf.Heaps;
using HeapPerf.Running;
using Measuring.Results;
using Measuring.Timing;

namespace HeapPerf.Reporting;

/// <summary>Puts together what the user reads.</summary>
internal static class Report
{
    /// <summary>Returns <paramref name="document"/> with tables, charts and notes.</summary>
    public static ResultDocument Create(ResultDocument document, Measurements measurements, IReadOnlyList<string> remarks, TimeSpan elapsed)
    {
        IEnumerable<ResultTable?> tables = measurements.Options.Classes
            .Select(sizeClass => new ClassTables(measurements, sizeClass))
            .SelectMany(tables => new[] { tables.Figures(), tables.Differences() })
            .Append(SlopeTable.Create(measurements))
            .Append(SpreadTable.Create(measurements));
        return document with
        {
            Tables = [.. tables.OfType<ResultTable>()],
            Charts = Charts.Create(measurements),
            Notes = [.. Explanations(measurements), .. remarks, FormattableString.Invariant($"elapsed   {elapsed.TotalSeconds:0.0} s")],
        };
    }

    private static IEnumerable<string> Explanations(Measurements measurements)
    {
        HeapPerfOptions options = measurements.Options;
        double clock = Statistics.Median(measurements.Results.Select(result => result.ClockNanoseconds).DefaultIfEmpty(0));
        yield return "How to read: AllocTime and FreeTime are the time that a thread waits for a million allocations or frees, in ms (for one: in ns), "
            + "means over all threads and runs. It is time on the clock: once there are more threads than cores, it grows by "
            + $"threads ÷ cores ({Environment.ProcessorCount} here) for a heap that scales perfectly, as threads wait for their turn in the middle of a batch.";
        yield return FormattableString.Invariant(
            $"A batch allocates, then frees, the last block first. The two halves are timed as a whole, and the clock's own cost (here {clock:0} ns a reading, measured in each process) is subtracted from each.");
        yield return FormattableString.Invariant(
            $"Each heap, size and number of threads has a process of its own. Its threads begin together and do {options.Runs} runs, and one before that is not counted, without a pause between them: each has about {options.ThreadMilliseconds:0.#} ms of processor time for each thread, and {options.ShortestRunMilliseconds:0} ms in all at least. Runs with a pause between them would end within a thread's time slice, and no wait would be seen.");
        yield return "\"Not touched\" is the cost of the call alone: freed memory above a heap's thresholds goes back to the system, and its page faults would come later. "
            + "\"Touched\" has them in AllocTime: one byte of each page is written as soon as the block is there.";
        yield return "PeakMem is the largest resident size of the whole process; \"of which heap\" leaves out what it was with all threads started and nothing allocated. "
            + "Threads' own stacks, compiled code and garbage of the runs are in both. It is what the threads happened to hold at once, and what the heap kept.";
        yield return "The pool serves up to 1 MiB from ArrayPool<byte>.Shared, with a guard against misuse on top, and 4 MiB from its blocks; it is made large enough for all that is held. "
            + "The owner is an object for the GC, and up to 1 MiB so are the guards of what is held beyond the few that each thread keeps: collections are within the times, garbage is within PeakMem. "
            + "ArrayPool keeps 32 arrays of a size for each core and drops the rest.";
        yield return "Native heaps are called through function pointers with the transition out of managed code that NativeMemory makes too; none replaces the process's own malloc.";
        string versions = string.Join(", ", measurements.Heaps
            .Where(heap => measurements.Version(heap) is not null).Select(heap => $"{HeapNames.Of(heap)} {measurements.Version(heap)}"));
        if (versions.Length > 0)
        {
            yield return $"Versions: {versions}.";
        }
    }
}

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using Decisions.Latencies;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Machines;
using Measuring.Results;

namespace Decisions.Purging;

/// <summary>How is a block's memory given back, so that it really goes, cheaply, and in nobody's way?</summary>
internal sealed class PurgeQuestion : Question
{
    // What statm misses: each core folds in some pages late.
    private const double Gone = 0.05;

    private const int FewestRounds = 3;

    private static readonly TimeSpan s_most = TimeSpan.FromSeconds(40);
    private static readonly bool[] s_pageKinds = [false, true];

    private readonly PurgeMethod[] _methods = PurgeMethod.CreateAll();
    private readonly LatencyHistogram _histogram = new();

    /// <inheritdoc/>
    public override string Name => "purge";

    /// <inheritdoc/>
    public override string Title => "Giving the memory of idle 4 MB blocks back to the system, and having it again";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        if (!LinuxMemory.IsAvailable || !ResidentMemory.HasDetails)
        {
            return new Answer { Notes = ["Not measured: these system calls, and /proc/self/smaps_rollup, are Linux's."] };
        }

        int blocks = SpareMemory.Fit(effort.Choose(64, 4), MemorySize.Block);
        List<PurgeFigures> figures = [];
        foreach (bool hugePages in s_pageKinds)
        {
            figures.AddRange(Measure(blocks, hugePages, effort));
        }

        return new Answer
        {
            Tables = [CreateCosts(blocks, figures), CreateFaults(figures)],
            Charts = [CreateChart(figures)],
            Notes = [.. CreateNotes(blocks, figures)],
        };
    }

    private static string KindOf(bool hugePages) => hugePages ? "2 MB" : "4 KB";

    private PurgeFigures[] Measure(int blocks, bool hugePages, Effort effort)
    {
        List<PurgeCost>[] costs = [.. _methods.Select(_ => new List<PurgeCost>())];
        List<double[]>[] faults = [.. _methods.Select(_ => new List<double[]>())];
        List<double[]> undisturbed = [];
        bool[] zero = new bool[_methods.Length];
        int[] split = new int[_methods.Length];
        double huge;
        int rounds = effort.Choose(7, 1);
        TimeSpan sample = TimeSpan.FromSeconds(effort.Choose(0.4, 0.02));
        long hugeBefore = ResidentMemory.ReadDetails().InHugePages;
        using (PurgedBlocks memory = new(blocks, hugePages))
        {
            huge = (ResidentMemory.ReadDetails().InHugePages - hugeBefore) / ((double)blocks * MemorySize.Block);

            // The round before the first compiles the code.
            Stopwatch watch = Stopwatch.StartNew();
            for (int round = -1; round < rounds && (round < FewestRounds || watch.Elapsed < s_most); round++)
            {
                undisturbed.Add(MeasureFaults(() => memory.WriteFor(sample)));
                for (int turn = 0; turn < _methods.Length; turn++)
                {
                    // Each method comes first in some round, and after each of the others.
                    int i = (turn + round + 1) % _methods.Length;
                    PurgeMethod method = _methods[i];
                    costs[i].Add(MeasureCost(memory, method));
                    zero[i] = PurgesToZero(memory, method);
                    split[i] = CountSplits(memory, method);
                    faults[i].Add(MeasureFaults(() => memory.Cycle(method, sample)));
                }

                if (round < 0)
                {
                    undisturbed.Clear();
                    Array.ForEach(costs, static list => list.Clear());
                    Array.ForEach(faults, static list => list.Clear());
                }
            }
        }

        return [.. _methods.Select((method, i) => new PurgeFigures(method.Name, KindOf(hugePages), costs[i], faults[i], undisturbed, zero[i], split[i], huge))];
    }

    private static PurgeCost MeasureCost(PurgedBlocks memory, PurgeMethod method)
    {
        memory.Write();
        double total = (double)memory.Count * MemorySize.Block;
        long residentBefore = ProcessMemory.ReadResidentOften();
        ResidentDetails before = ResidentMemory.ReadDetails();

        long start = Stopwatch.GetTimestamp();
        memory.Purge(method);
        TimeSpan purge = Stopwatch.GetElapsedTime(start);

        long resident = ProcessMemory.ReadResidentOften();
        ResidentDetails after = ResidentMemory.ReadDetails();

        start = Stopwatch.GetTimestamp();
        memory.Ready(method);
        memory.Write();
        TimeSpan retouch = Stopwatch.GetElapsedTime(start);

        return new PurgeCost
        {
            PurgeMicroseconds = purge.TotalMicroseconds / memory.Count,
            RetouchMicroseconds = retouch.TotalMicroseconds / memory.Count,
            StillResident = 1 - ((residentBefore - resident) / total),
            StillMapped = 1 - ((before.Resident - after.Resident) / total),
            LazilyFreed = (after.LazilyFreed - before.LazilyFreed) / total,
        };
    }

    private static bool PurgesToZero(PurgedBlocks memory, PurgeMethod method)
    {
        memory.Write();
        memory.Purge(method);
        memory.Ready(method);
        bool zero = memory.ReadsZero();
        memory.Write();
        return zero;
    }

    // The idle blocks of an arena lie between those that are out.
    private static int CountSplits(PurgedBlocks memory, PurgeMethod method)
    {
        int before = LinuxMemory.CountMappings();
        memory.Purge(method, every: 2);
        int after = LinuxMemory.CountMappings();
        memory.Ready(method, every: 2);
        memory.Write();
        return after - before;
    }

    private double[] MeasureFaults(Action meanwhile)
    {
        _histogram.Clear();
        FaultingThread thread = new(_histogram);
        meanwhile();
        thread.Stop();
        return [.. PurgeFigures.Fractions.Select(_histogram.Percentile)];
    }

    private static ResultTable CreateCosts(int blocks, IReadOnlyList<PurgeFigures> figures) => new()
    {
        Title = $"{blocks} blocks of 4 MB, purged one by one and written to again; what is left right after the purge (medians of {figures[0].Costs.Count} rounds)",
        Labels = ["pages", "method"],
        Columns =
        [
            new ResultColumn("purge", "µs a block", "0.0"),
            new ResultColumn("use again", "µs a block", "0.0"),
            new ResultColumn("both", "µs a block", "0.0"),
            new ResultColumn("resident, statm", "%", "0"),
            new ResultColumn("resident, smaps", "%", "0"),
            new ResultColumn("LazyFree", "%", "0"),
            new ResultColumn("mappings added", "every 2nd purged", "0"),
            new ResultColumn("reads zero", "1 is yes", "0"),
        ],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.Pages, figure.Method],
                [
                    figure.Median(cost => cost.PurgeMicroseconds),
                    figure.Median(cost => cost.RetouchMicroseconds),
                    figure.Both,
                    100 * figure.Median(cost => cost.StillResident),
                    100 * figure.Median(cost => cost.StillMapped),
                    100 * figure.Median(cost => cost.LazilyFreed),
                    figure.MappingsAdded,
                    figure.ReadsZero ? 1 : 0,
                ])),
        ],
    };

    private static ResultTable CreateFaults(IReadOnlyList<PurgeFigures> figures) => new()
    {
        Title = "First touch of 4 KB pages by another thread, while this one purges blocks and uses them again",
        Labels = ["purged pages", "this thread"],
        Columns =
        [
            .. PurgeFigures.FractionNames.Select(name => new ResultColumn(name, "ns", "N0")),
            new ResultColumn("p99.9 against undisturbed", "×", "0.00"),
        ],
        Rows =
        [
            .. figures.GroupBy(figure => figure.Pages).SelectMany(pages => new[] { CreateUndisturbed(pages.First()) }.Concat(pages.Select(figure => new ResultRow(
                [figure.Pages, figure.Method],
                [.. PurgeFigures.Fractions.Select((_, i) => (double?)figure.MedianFault(i)), figure.FaultRatio])))),
        ],
    };

    private static ResultRow CreateUndisturbed(PurgeFigures figure) => new(
        [figure.Pages, "writes to resident blocks"],
        [.. PurgeFigures.Fractions.Select((_, i) => (double?)figure.MedianUndisturbed(i)), 1]);

    private static ResultChart CreateChart(IReadOnlyList<PurgeFigures> figures)
    {
        PurgeFigures[] methods = [.. figures.DistinctBy(figure => figure.Method)];
        return new ResultChart
        {
            Title = "A 4 MB block given back and used again",
            Kind = ChartKind.Bars,
            X = "method",
            Y = "time (µs a block)",
            LogarithmicY = true,
            Categories = [.. methods.Select(figure => figure.Method)],
            Series =
            [
                .. figures.GroupBy(figure => figure.Pages).Select(pages => new ResultSeries(
                    $"{pages.Key} pages", [.. pages.Select((figure, i) => new ResultPoint(i, figure.Both))])),
            ],
        };
    }

    private static IEnumerable<string> CreateNotes(int blocks, IReadOnlyList<PurgeFigures> figures)
    {
        foreach (IGrouping<string, PurgeFigures> pages in figures.GroupBy(figure => figure.Pages))
        {
            string kind = $"{pages.Key} pages";
            yield return Ranking.LeastFirst($"{kind}, purge and use again", "µs a block", "0", pages.Select(figure => (figure.Method, figure.Both)));
            string[] kept = [.. pages.Where(figure => figure.Median(cost => cost.StillResident) > Gone).Select(figure => figure.Method)];
            yield return kept.Length == 0
                ? $"{kind}: after each method less than {Gone:P0} of the memory was still resident."
                : $"{kind}: still resident after the purge, by statm, was the memory of {string.Join(", ", kept)}.";
            string[] dirty = [.. pages.Where(figure => !figure.ReadsZero).Select(figure => figure.Method)];
            yield return dirty.Length == 0 ? $"{kind}: all methods leave zeros." : $"{kind}: old contents could be read after {string.Join(", ", dirty)}.";
            yield return Ranking.LeastFirst($"{kind}, p99.9 of another thread's first touches against undisturbed", "×", "0.00", pages.Select(figure => (figure.Method, figure.FaultRatio)));
        }

        double huge = figures[^1].PartInHugePages;
        if (huge < 0.95)
        {
            yield return $"The system gave huge pages for {huge:P0} of the memory in the rows about them.";
        }

        if (UnmapMethod.Lost > 0)
        {
            yield return $"{UnmapMethod.Lost} of the addresses that munmap gave up were somebody else's when they were wanted again, and the blocks moved.";
        }
    }
}

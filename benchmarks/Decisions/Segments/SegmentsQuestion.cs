using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using Allocator;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Results;
using Measuring.Timing;

namespace Decisions.Segments;

/// <summary>Memory above the pool: one mapping, or segments of 32 MB?</summary>
internal sealed class SegmentsQuestion : Question
{
    private const int SegmentMegabytes = 32;
    private const int FewestRounds = 3;

    private static readonly TimeSpan s_most = TimeSpan.FromSeconds(60);
    private static readonly int[] s_obstacles = [4, 8, 16, 32, 64];

    /// <inheritdoc/>
    public override string Name => "segments";

    /// <inheritdoc/>
    public override string Title => "Oversize memory in one mapping against mappings of 32 MB";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        int[] wanted = effort.Choose<int[]>([64, 128, 256, 512], [64]);
        int largest = SpareMemory.Fit(wanted[^1] / SegmentMegabytes, SegmentMegabytes * (long)MemorySize.Megabyte) * SegmentMegabytes;
        int[] totals = [.. wanted.Where(total => total <= largest)];
        SegmentCase[] cases =
        [
            .. new[] { HugePages.Off, HugePages.Auto }.SelectMany(pages => totals.SelectMany(total => new[]
            {
                new SegmentCase(total, total, pages), new SegmentCase(total, SegmentMegabytes, pages),
            })),
        ];
        SegmentCost[][] costs = Measure(cases, effort.Choose(15, 1));
        List<string> notes = [.. CreateNotes(cases, costs)];
        if (totals.Length < wanted.Length)
        {
            notes.Add($"There is memory for {largest} MB at a time only; {wanted[^1]} MB were asked for.");
        }

        List<ResultTable> tables = [CreateTable(cases, costs)];
        if (LinuxMemory.CanMapLow)
        {
            tables.Add(MeasureScattered(wanted, effort.Choose(200, 10), notes));
        }
        else
        {
            notes.Add("A scattered address space was not measured: only Linux on x64 confines mappings to a small one.");
        }

        return new Answer { Tables = tables, Charts = totals.Length > 1 ? [CreateChart(cases, costs)] : [], Notes = notes };
    }

    private static SegmentCost[][] Measure(SegmentCase[] cases, int rounds)
    {
        List<SegmentCost>[] costs = [.. cases.Select(_ => new List<SegmentCost>())];
        Array.ForEach(cases, static segmentCase => segmentCase.Measure());
        Stopwatch watch = Stopwatch.StartNew();
        for (int round = 0; round < rounds && (round < FewestRounds || watch.Elapsed < s_most); round++)
        {
            // Each pair in turn, and each of the two first in every second round.
            for (int i = 0; i < cases.Length; i++)
            {
                int next = i ^ (round & 1);
                costs[next].Add(cases[next].Measure());
            }
        }

        return [.. costs.Select(list => list.ToArray())];
    }

    private static double Median(SegmentCost[] costs, Func<SegmentCost, double> cost) => Statistics.Median(costs.Select(cost));

    private static double Ratio(SegmentCost[] costs, SegmentCost[] reference)
        => Statistics.Median(costs.Zip(reference, (cost, other) => cost.Total / other.Total));

    private static ResultTable CreateTable(SegmentCase[] cases, SegmentCost[][] costs) => new()
    {
        Title = $"Map, write to each page, unmap (medians of {costs[0].Length} rounds)",
        Labels = ["pages", "memory", "in"],
        Columns =
        [
            new ResultColumn("map", "µs", "0.0"),
            new ResultColumn("first touch", "ms", "0.00"),
            new ResultColumn("unmap", "ms", "0.000"),
            new ResultColumn("longest unmap", "ms", "0.000"),
            new ResultColumn("total", "ms", "0.00"),
            new ResultColumn("against one mapping", "×", "0.00"),
            new ResultColumn("mappings added", null, "0"),
        ],
        Rows =
        [
            .. cases.Select((segmentCase, i) => new ResultRow(
                [segmentCase.Pages, $"{segmentCase.TotalMegabytes} MB", segmentCase.IsOneMapping ? "one mapping" : $"{segmentCase.Pieces} × {SegmentMegabytes} MB"],
                [
                    Median(costs[i], cost => cost.Map),
                    Median(costs[i], cost => cost.FirstTouch) / 1000,
                    Median(costs[i], cost => cost.Unmap) / 1000,
                    Median(costs[i], cost => cost.LongestUnmap) / 1000,
                    Median(costs[i], cost => cost.Total) / 1000,
                    Ratio(costs[i], costs[i & ~1]),
                    costs[i].Max(cost => cost.MappingsAdded),
                ])),
        ],
    };

    private static ResultChart CreateChart(SegmentCase[] cases, SegmentCost[][] costs) => new()
    {
        Title = "Oversize memory: map, first touch, unmap",
        Kind = ChartKind.Lines,
        X = "memory (MB)",
        Y = "time (ms)",
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. cases.Select((segmentCase, i) => (segmentCase, Cost: Median(costs[i], cost => cost.Total) / 1000))
                .GroupBy(figure => $"{(figure.segmentCase.IsOneMapping ? "one mapping" : $"{SegmentMegabytes} MB segments")}, {figure.segmentCase.Pages} pages")
                .Select(series => new ResultSeries(series.Key, [.. series.Select(figure => new ResultPoint(figure.segmentCase.TotalMegabytes, figure.Cost))])),
        ],
    };

    private static IEnumerable<string> CreateNotes(SegmentCase[] cases, SegmentCost[][] costs)
    {
        foreach (IGrouping<string, int> pages in Enumerable.Range(0, cases.Length).Where(i => !cases[i].IsOneMapping).GroupBy(i => cases[i].Pages))
        {
            yield return Ranking.LeastFirst(
                $"{pages.Key} pages, total time of segments against one mapping", "×", "0.00", pages.Select(i => ($"{cases[i].TotalMegabytes} MB", Ratio(costs[i], costs[i - 1]))));
            int largest = pages.Last();
            yield return Ranking.LeastFirst(
                $"{pages.Key} pages, longest single call that unmaps {cases[largest].TotalMegabytes} MB", "ms", "0.000",
                [
                    ("one mapping", Median(costs[largest - 1], cost => cost.LongestUnmap) / 1000),
                    ("segments", Median(costs[largest], cost => cost.LongestUnmap) / 1000),
                ]);
        }

        yield return "Neighbouring mappings of one kind are one to the kernel: fewer may be added than were made.";
        yield return "ulimit -v limits the sum of all mappings and not their shape, so it treats both alike; what tells them apart is a scattered address space.";
    }

    private static ResultTable MeasureScattered(int[] totals, int trials, List<string> notes)
    {
        List<ResultRow> rows = [];
        double[] sums = new double[2];
        foreach (int obstacles in s_obstacles)
        {
            int[] fits = new int[2 * totals.Length];

            // The same places in every run of this program.
            Random random = new(obstacles);
            for (int trial = 0; trial < trials; trial++)
            {
                using ScatteredSpace space = new(obstacles, random);
                for (int i = 0; i < totals.Length; i++)
                {
                    fits[i] += ScatteredSpace.CanMap(totals[i], totals[i]) ? 1 : 0;
                    fits[totals.Length + i] += ScatteredSpace.CanMap(totals[i], SegmentMegabytes) ? 1 : 0;
                }
            }

            double[] percent = [.. fits.Select(count => 100.0 * count / trials)];
            sums[0] += percent[..totals.Length].Average() / s_obstacles.Length;
            sums[1] += percent[totals.Length..].Average() / s_obstacles.Length;
            rows.Add(new ResultRow([$"{obstacles}", "one mapping"], [.. percent[..totals.Length].Select(value => (double?)value)]));
            rows.Add(new ResultRow([$"{obstacles}", $"{SegmentMegabytes} MB segments"], [.. percent[totals.Length..].Select(value => (double?)value)]));
        }

        notes.Add(Ranking.MostFirst("Requests that fit a scattered address space of 1 GB, mean of all rows", "%", "0", [("one mapping", sums[0]), ("segments", sums[1])]));
        return new ResultTable
        {
            Title = $"Requests that succeed in 1 GB of addresses with mappings of 1 MB strewn over it ({trials} trials each)",
            Labels = ["mappings in the way", "request as"],
            Columns = [.. totals.Select(total => new ResultColumn($"{total} MB", "%", "0"))],
            Rows = rows,
        };
    }
}

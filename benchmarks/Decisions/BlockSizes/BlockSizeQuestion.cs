using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using Allocator;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Results;
using Measuring.Timing;

namespace Decisions.BlockSizes;

/// <summary>How large is a block?</summary>
internal sealed class BlockSizeQuestion : Question
{
    private const int FewestRounds = 3;

    // The size that the library uses comes first: ratios are to it.
    private static readonly int[] s_sizes = [4, 2, 8, 16];

    private static readonly ImageLoad[] s_loads =
    [
        .. new[] { 0.6, 0.85 }.SelectMany(fill => new[] { 0, 0.5, 1.0 }.Select(contiguous => new ImageLoad(contiguous, fill))),
    ];

    private static readonly TimeSpan s_mostPerLoad = TimeSpan.FromSeconds(6);
    private static readonly TimeSpan s_mostForBlocks = TimeSpan.FromSeconds(20);

    /// <inheritdoc/>
    public override string Name => "block-size";

    /// <inheritdoc/>
    public override string Title => "Blocks of 2, 4, 8 and 16 MB for images of 1 to 100 MB";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        // All four pools exist at a time, and images that do not fit lie beside them.
        const int Unit = 64;
        int poolMegabytes = Unit * SpareMemory.Fit(effort.Choose(512, 128) / Unit, 8L * Unit * MemorySize.Megabyte);
        List<ChurnFigures> figures = [.. s_loads.SelectMany(load => Measure(load, poolMegabytes, effort))];
        List<BlockCost> costs = MeasureBlocks(effort.Choose(256, 32), effort.Choose(9, 1));
        return new Answer
        {
            Tables = [CreateImages(poolMegabytes, figures), CreateBlocks(costs)],
            Charts = [CreateWasteChart(figures), CreateTimeChart(figures)],
            Notes = [.. CreateNotes(figures, costs)],
        };
    }

    private static string NameOf(int megabytes) => $"{megabytes} MB";

    private static IEnumerable<ChurnFigures> Measure(ImageLoad load, int poolMegabytes, Effort effort)
    {
        int images = effort.Choose(2000, 20);
        ImageChurn[] churns = [.. s_sizes.Select(size => new ImageChurn(size, poolMegabytes, load))];
        try
        {
            // The first images fill the pool. From then on all pools meet the same images, and let the same ones go.
            Array.ForEach(churns, churn => churn.Run(images));
            ChurnCounts[] counts = [.. churns.Select(churn => churn.Count(images))];
            double[][] times = MeasureRounds(churns, static (churn, count) => churn.Run(count), images, effort);
            double[][] written = MeasureRounds(churns, static (churn, count) => churn.RunAndWrite(count), effort.Choose(100, 5), effort);
            return
            [
                .. churns.Select((churn, i) => new ChurnFigures(
                    churn.BlockMegabytes, load, counts[i], Statistics.Median(times[i]), Statistics.Median(written[i]), Statistics.Median(written[i].Zip(written[0], (time, reference) => time / reference))))
                    .OrderBy(figure => figure.BlockMegabytes),
            ];
        }
        finally
        {
            Array.ForEach(churns, static churn => churn.Dispose());
        }
    }

    // In microseconds an image, by pool and round. Nothing but the same images makes times comparable: they differ a hundredfold in size.
    private static double[][] MeasureRounds(ImageChurn[] churns, Action<ImageChurn, int> run, int images, Effort effort)
    {
        List<double>[] times = [.. churns.Select(_ => new List<double>())];
        Array.ForEach(churns, churn => run(churn, images));
        Stopwatch watch = Stopwatch.StartNew();
        for (int round = 0; round < effort.Choose(15, 1) && (round < FewestRounds || watch.Elapsed < s_mostPerLoad); round++)
        {
            for (int turn = 0; turn < churns.Length; turn++)
            {
                int i = (turn + round) % churns.Length;
                long start = Stopwatch.GetTimestamp();
                run(churns[i], images);
                times[i].Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds / images);
            }
        }

        return [.. times.Select(list => list.ToArray())];
    }

    private static List<BlockCost> MeasureBlocks(int totalMegabytes, int rounds)
    {
        BlockRange[] ranges =
        [
            .. new[] { HugePages.Off, HugePages.Auto }.SelectMany(pages => s_sizes.Order().Select(size => new BlockRange(size, totalMegabytes, pages))),
        ];
        List<(double FirstTouch, double Purge)>[] costs = [.. ranges.Select(_ => new List<(double, double)>())];
        Array.ForEach(ranges, static range => range.Measure());
        Stopwatch watch = Stopwatch.StartNew();
        for (int round = 0; round < rounds && (round < FewestRounds || watch.Elapsed < s_mostForBlocks); round++)
        {
            for (int i = 0; i < ranges.Length; i++)
            {
                costs[i].Add(ranges[i].Measure());
            }
        }

        Array.ForEach(ranges, static range => range.Dispose());
        return
        [
            .. ranges.Select((range, i) => new BlockCost(
                range.BlockMegabytes,
                range.HugePages == HugePages.Auto ? "huge" : "4 KB",
                Statistics.Median(costs[i].Select(cost => cost.FirstTouch)),
                Statistics.Median(costs[i].Select(cost => cost.Purge)))),
        ];
    }

    private static ResultTable CreateImages(int poolMegabytes, List<ChurnFigures> figures) => new()
    {
        Title = $"Images of 1 to 100 MB that come and go in a pool of {poolMegabytes} MB, which they fill to some part ({figures[0].Counts.Images} images counted)",
        Labels = ["filled", "contiguous", "blocks"],
        Columns =
        [
            new ResultColumn("untouched", "µs an image", "0.00"),
            new ResultColumn("written", "µs an image", "N0"),
            new ResultColumn("to 4 MB", "×", "0.00"),
            new ResultColumn("waste", "% of given", "0.0"),
            new ResultColumn("members", "an image", "0.0"),
            new ResultColumn("by pool", "% of images", "0.0"),
            new ResultColumn("by pool", "% of contig.", "0.0"),
            new ResultColumn("committed", "% of live", "0"),
        ],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [$"{figure.Load.Fill:P0}", $"{figure.Load.ContiguousPart:P0}", NameOf(figure.BlockMegabytes)],
                [
                    figure.Microseconds,
                    figure.WrittenMicroseconds,
                    figure.Ratio,
                    100 * figure.Counts.Waste,
                    PartOf(figure.Counts.Members, figure.Counts.Images - figure.Counts.Contiguous),
                    100 * PartOf(figure.Counts.FromPool, figure.Counts.Images),
                    100 * PartOf(figure.Counts.ContiguousFromPool, figure.Counts.Contiguous),
                    100 * PartOf(figure.Counts.PeakCommittedBytes, figure.Counts.PeakLiveBytes),
                ])),
        ],
    };

    private static double? PartOf(long part, long all) => all == 0 ? null : (double)part / all;

    private static ResultTable CreateBlocks(List<BlockCost> costs) => new()
    {
        Title = "One block: commit and write to each page for the first time, and purge",
        Labels = ["pages", "block"],
        Columns =
        [
            new ResultColumn("first touch", "µs a block", "0.0"),
            new ResultColumn("purge", "µs a block", "0.0"),
            new ResultColumn("first touch", "µs a MB", "0.0"),
            new ResultColumn("purge", "µs a MB", "0.00"),
        ],
        Rows =
        [
            .. costs.Select(cost => new ResultRow(
                [cost.Pages, NameOf(cost.BlockMegabytes)],
                [cost.FirstTouch, cost.Purge, cost.FirstTouch / cost.BlockMegabytes, cost.Purge / cost.BlockMegabytes])),
        ],
    };

    private static ResultChart CreateWasteChart(List<ChurnFigures> figures) => new()
    {
        Title = $"Memory given and not asked for, pool filled to {s_loads[0].Fill:P0}",
        Kind = ChartKind.Bars,
        X = "block size",
        Y = "part of the memory given (%)",
        Categories = [.. s_sizes.Order().Select(NameOf)],
        Series = CreateSeries(figures, figure => 100 * figure.Counts.Waste),
    };

    private static ResultChart CreateTimeChart(List<ChurnFigures> figures) => new()
    {
        Title = $"An image allocated, written to and disposed, pool filled to {s_loads[0].Fill:P0}",
        Kind = ChartKind.Bars,
        X = "block size",
        Y = "time (µs an image)",
        Categories = [.. s_sizes.Order().Select(NameOf)],
        Series = CreateSeries(figures, figure => figure.WrittenMicroseconds),
    };

    private static List<ResultSeries> CreateSeries(List<ChurnFigures> figures, Func<ChurnFigures, double> value) =>
    [
        .. figures.Where(figure => figure.Load.Fill == s_loads[0].Fill).GroupBy(figure => figure.Load.Name)
            .Select(load => new ResultSeries(load.Key, [.. load.Select((figure, i) => new ResultPoint(i, value(figure)))])),
    ];

    private static IEnumerable<string> CreateNotes(List<ChurnFigures> figures, List<BlockCost> costs)
    {
        double[] sizes = [.. DrawSizes()];
        yield return $"The images: a tenth below {Statistics.Percentile(sizes, 0.1):0} MB, half below {Statistics.Median(sizes):0} MB, a tenth above {Statistics.Percentile(sizes, 0.9):0} MB.";
        yield return "Each image is allocated when others have gone, and disposed in its turn; untouched, or with a byte written to each page. Waste is what was given and not asked for; committed and live are peaks, live being what was asked for.";
        yield return Mean("Time of an image with writing, against 4 MB, mean of all loads", "×", "0.00", figures, figure => figure.Ratio);
        yield return Mean("Given and not asked for, mean of all loads", "%", "0.0", figures, figure => 100 * figure.Counts.Waste);
        yield return Mean("Peak committed against peak live, mean of all loads", "%", "0", figures, figure => 100 * PartOf(figure.Counts.PeakCommittedBytes, figure.Counts.PeakLiveBytes)!.Value);
        yield return Ranking.MostFirst(
            "Contiguous images served by the pool, mean of all loads that have some",
            "%",
            "0.0",
            BySize(figures.Where(figure => figure.Counts.Contiguous > 0), figure => 100.0 * figure.Counts.ContiguousFromPool / figure.Counts.Contiguous));
        foreach (IGrouping<string, BlockCost> pages in costs.GroupBy(cost => cost.Pages))
        {
            yield return Ranking.LeastFirst(
                $"First touch and purge with {pages.Key} pages", "µs a MB", "0.0", pages.Select(cost => (NameOf(cost.BlockMegabytes), (cost.FirstTouch + cost.Purge) / cost.BlockMegabytes)));
        }
    }

    private static string Mean(string what, string unit, string format, List<ChurnFigures> figures, Func<ChurnFigures, double> value)
        => Ranking.LeastFirst(what, unit, format, BySize(figures, value));

    private static IEnumerable<(string Name, double Value)> BySize(IEnumerable<ChurnFigures> figures, Func<ChurnFigures, double> value)
        => figures.GroupBy(figure => figure.BlockMegabytes).Select(size => (NameOf(size.Key), size.Average(value)));

    private static IEnumerable<double> DrawSizes()
    {
        ImageSizes sizes = new(1);
        for (int i = 0; i < 10_000; i++)
        {
            yield return MemorySize.ToMegabytes(sizes.Next().Bytes);
        }
    }
}

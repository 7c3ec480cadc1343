using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Decisions.Latencies;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Machines;
using Measuring.Results;

namespace Decisions.TrimLatency;

/// <summary>Does a renter notice that the pool is being trimmed?</summary>
internal sealed class TrimLatencyQuestion : Question
{
    private const double LargestRatio = 2;
    private const int MostAttempts = 20;

    private readonly LatencyHistogram _histogram = new();

    /// <inheritdoc/>
    public override string Name => "trim-latency";

    /// <inheritdoc/>
    public override string Title => "Latency of renting and returning 4 MB while all idle blocks of the same pool are trimmed";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        int wanted = effort.Choose(500, 40);
        int blocks = SpareMemory.Fit(wanted, 2L * MemorySize.Block);
        int rounds = effort.Choose(9, 1);
        TimeSpan most = TimeSpan.FromSeconds(effort.Choose(15, 1));
        Func<TrimSubject>[] subjects =
        [
            () => new ReleasedSubject("lease, released", blocks, RentLoops.Lease),
            () => new ReleasedSubject("lease and write, released", blocks, RentLoops.LeaseAndWrite),
            () => new ReleasedSubject("owner, released", blocks, RentLoops.Owner),
            () => TickedSubject.Create("lease, timer tick", blocks, RentLoops.Lease),
            () => new ClassicSubject(blocks),
        ];
        List<SubjectFigures> figures = [];
        using ForeignBlocks foreign = new(blocks);
        foreach (Func<TrimSubject> create in subjects)
        {
            using TrimSubject subject = create();
            figures.Add(Measure(subject, foreign, blocks, rounds, most));
        }

        return new Answer
        {
            Tables = [CreateLatencies(blocks, figures), CreateRatios(figures)],
            Charts = [CreateChart(blocks, figures)],
            Notes = [.. CreateNotes(wanted, blocks, figures)],
        };
    }

    private SubjectFigures Measure(TrimSubject subject, ForeignBlocks foreign, int blocks, int rounds, TimeSpan most)
    {
        List<WindowFigures> alone = [];
        List<WindowFigures> trimmed = [];
        Stopwatch watch = Stopwatch.StartNew();

        // The first pair compiles the code, and is not counted.
        _ = MeasureWindow(subject, foreign, blocks, trims: true);
        _ = MeasureWindow(subject, foreign, blocks, trims: false);
        while (alone.Count < rounds && (alone.Count < 3 || watch.Elapsed < most))
        {
            // Neither of the two always comes second.
            bool trimsFirst = alone.Count % 2 == 1;
            WindowFigures first = MeasureWindow(subject, foreign, blocks, trimsFirst);
            WindowFigures second = MeasureWindow(subject, foreign, blocks, !trimsFirst);
            trimmed.Add(trimsFirst ? first : second);
            alone.Add(trimsFirst ? second : first);
        }

        return new SubjectFigures(subject.Name, alone, trimmed);
    }

    // Where the machine has so much else to do that the renter never got a core, nothing was measured. A renter that had to wait for the pool did record its wait.
    private WindowFigures MeasureWindow(TrimSubject subject, ForeignBlocks foreign, int blocks, bool trims)
    {
        for (int attempt = 0; attempt < MostAttempts; attempt++)
        {
            if (TryMeasureWindow(subject, foreign, blocks, trims) is WindowFigures figures)
            {
                return figures;
            }
        }

        throw new InvalidOperationException($"The machine is too busy: in {MostAttempts} windows the renter had no core.");
    }

    // Both kinds of window start alike: everything is resident. What differs is whose blocks go.
    private WindowFigures? TryMeasureWindow(TrimSubject subject, ForeignBlocks foreign, int blocks, bool trims)
    {
        subject.Fill(blocks);
        foreign.Fill();
        _histogram.Clear();
        RentWindow window = new(_histogram);
        Thread renter = new(() => subject.Rent(window)) { Name = "renter", IsBackground = true };
        renter.Start();
        window.Open();
        long residentBefore = ProcessMemory.ReadResidentOften();
        long start = Stopwatch.GetTimestamp();
        if (trims)
        {
            subject.Trim();
        }
        else
        {
            foreign.Purge();
        }

        TimeSpan length = Stopwatch.GetElapsedTime(start);
        window.Close();
        renter.Join();
        if (trims)
        {
            subject.Verify(blocks);
        }

        return _histogram.Count == 0 ? null : new WindowFigures
        {
            Operations = _histogram.Count,
            Milliseconds = length.TotalMilliseconds,
            GivenBack = residentBefore - ProcessMemory.ReadResidentOften(),
            Latencies = [.. WindowFigures.Fractions.Select(_histogram.Percentile)],
        };
    }

    private static ResultTable CreateLatencies(int blocks, IReadOnlyList<SubjectFigures> figures) => new()
    {
        Title = $"While {blocks} resident blocks are trimmed, and while as many of another mapping are purged (medians of {figures.Min(subject => subject.Alone.Count)} rounds or more)",
        Labels = ["renter, trimmed by", "meanwhile"],
        Columns =
        [
            new ResultColumn("operations", null, "N0"),
            new ResultColumn("window", "ms", "0.0"),
            new ResultColumn("given back", "MB", "N0"),
            .. WindowFigures.Names.Select(name => new ResultColumn(name, "ns", "N0")),
        ],
        Rows = [.. figures.SelectMany(subject => new[] { CreateRow(subject.Name, "another mapping", subject.Alone), CreateRow(subject.Name, "this pool", subject.Trimmed) })],
    };

    private static ResultRow CreateRow(string name, string meanwhile, IReadOnlyList<WindowFigures> windows) => new(
        [name, meanwhile],
        [
            SubjectFigures.Median(windows, window => window.Operations),
            SubjectFigures.Median(windows, window => window.Milliseconds),
            SubjectFigures.Median(windows, window => MemorySize.ToMegabytes(window.GivenBack)),
            .. Latencies(windows).Select(value => (double?)value),
        ]);

    private static ResultTable CreateRatios(IReadOnlyList<SubjectFigures> figures) => new()
    {
        Title = "Trimmed against untrimmed: medians of the rounds' ratios",
        Labels = ["renter, trimmed by"],
        Columns = [.. WindowFigures.Names.Select(name => new ResultColumn(name, "×", "0.00"))],
        Rows =
        [
            .. figures.Select(subject => new ResultRow(
                [subject.Name], [.. WindowFigures.Fractions.Select((_, i) => (double?)subject.Ratio(i))])),
        ],
    };

    private static ResultChart CreateChart(int blocks, IReadOnlyList<SubjectFigures> figures) => new()
    {
        Title = $"Renting and returning 4 MB while {blocks} blocks are trimmed",
        Kind = ChartKind.Bars,
        X = "percentile of the renter's operations",
        Y = "latency (ns)",
        LogarithmicY = true,
        Categories = WindowFigures.Names,
        Series =
        [
            CreateSeries("lease, another mapping is purged", figures[0].Alone),
            CreateSeries("lease, this pool is trimmed", figures[0].Trimmed),
            CreateSeries("classic, another mapping is purged", figures[^1].Alone),
            CreateSeries("classic, this pool is trimmed", figures[^1].Trimmed),
        ],
    };

    private static ResultSeries CreateSeries(string name, IReadOnlyList<WindowFigures> windows)
        => new(name, [.. Latencies(windows).Select((value, i) => new ResultPoint(i, value))]);

    private static IEnumerable<double> Latencies(IReadOnlyList<WindowFigures> windows)
        => WindowFigures.Fractions.Select((_, i) => SubjectFigures.Median(windows, window => window.Latencies[i]));

    private static IEnumerable<string> CreateNotes(int wanted, int blocks, IReadOnlyList<SubjectFigures> figures)
    {
        if (blocks < wanted)
        {
            yield return $"There is memory for {blocks} blocks only; {wanted} were asked for.";
        }

        yield return "Both windows start with the same memory resident, and end when the other thread has given its blocks back; nothing is subtracted for the clock.";
        string name = WindowFigures.Names[WindowFigures.Target];
        foreach (SubjectFigures subject in figures)
        {
            double ratio = subject.Ratio(WindowFigures.Target);
            double fewest = subject.Trimmed.Concat(subject.Alone).Min(window => window.Operations);
            string caveat = fewest * (1 - WindowFigures.Fractions[WindowFigures.Target]) < 1 ? $" (in a window of {fewest} operations that is the longest)" : string.Empty;
            yield return $"{subject.Name}: {name}{caveat} {Ranking.Text(ratio, "0.00")}× that of the untrimmed loop, {(ratio <= LargestRatio ? "within" : "beyond")} the {LargestRatio}× asked for.";
            double given = MemorySize.ToMegabytes(SubjectFigures.Median(subject.Trimmed, window => window.GivenBack));
            double idle = MemorySize.ToMegabytes((double)blocks * MemorySize.Block);
            if (given < idle / 2)
            {
                yield return $"{subject.Name}: of {Ranking.Text(idle, "N0")} MB that were idle only {Ranking.Text(given, "N0")} MB left the process, so its trim had less to do than the others'.";
            }
        }
    }
}

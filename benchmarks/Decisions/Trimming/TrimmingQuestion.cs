using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Allocator;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Results;

namespace Decisions.Trimming;

/// <summary>What makes a pool give back what lies idle: a timer, or the collector?</summary>
internal sealed class TrimmingQuestion : Question
{
    private static readonly double[] s_parts = [0, 0.25, 0.5, 0.75, 1];

    /// <inheritdoc/>
    public override string Name => "trimming";

    /// <inheritdoc/>
    public override string Title => "How long idle blocks stay after a burst: trimmed by a timer, by Gen2 collections, and with memory pressure told to the collector";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        TrimmingRun pattern = new()
        {
            Blocks = SpareMemory.Fit(effort.Choose(75, 8), MemorySize.Block),
            Work = TimeSpan.FromSeconds(effort.Choose(1.0, 0.1)),
            Watch = TimeSpan.FromSeconds(effort.Choose(2.5, 0.3)),
            Period = TimeSpan.FromSeconds(effort.Choose(0.25, 0.03)),
        };
        Aftermath[] aftermaths = Enum.GetValues<Aftermath>();
        TrimTrigger[] triggers = Enum.GetValues<TrimTrigger>();
        TrimmingRun[] runs = effort.IsQuick
            ? [.. triggers.Select((trigger, i) => pattern with { Trigger = trigger, Aftermath = aftermaths[i % aftermaths.Length] })]
            : [.. aftermaths.SelectMany(aftermath => triggers.Select(trigger => pattern with { Trigger = trigger, Aftermath = aftermath }))];

        // A quick run meets each trigger and each aftermath, not all pairs, and its children need not have the machine to themselves: its figures are noise anyway.
        List<TrimmingFigures> figures = effort.IsQuick
            ? [.. Task.WhenAll(runs.Select(run => Task.Run(() => new TrimmingFigures(run, ChildProcess.Run(run))))).Result]
            : [.. runs.Select(run => new TrimmingFigures(run, ChildProcess.Run(run)))];
        return new Answer
        {
            Tables = [CreateHeld(pattern, figures), CreateResident(figures), CreateWork(figures), CreateWatched(figures)],
            Charts = [.. aftermaths.Select(aftermath => CreateChart(figures, aftermath))],
            Notes = [.. CreateNotes(figures)],
        };
    }

    private static ResultTable CreateHeld(TrimmingRun pattern, List<TrimmingFigures> figures) => new()
    {
        Title = Ranking.Invariant($"Bursts of {pattern.Blocks} blocks of 4 MB end; the pool is watched for {pattern.Watch.TotalSeconds} s, with a trim period of {pattern.Period.TotalSeconds} s"),
        Labels = ["then", "trimmed by"],
        Columns =
        [
            new ResultColumn("held", "MB × s", "0"),
            new ResultColumn("held", "% of all", "0"),
            new ResultColumn("half was gone after", "s", "0.00"),
            new ResultColumn("nine tenths after", "s", "0.00"),
            new ResultColumn("left at the end", "MB", "0"),
        ],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.Afterwards, figure.Trigger],
                [figure.Held, 100 * figure.HeldPart, figure.SecondsTo(0.5), figure.SecondsTo(0.1), figure.Left])),
        ],
    };

    private static ResultTable CreateResident(List<TrimmingFigures> figures) => new()
    {
        Title = "Resident memory of the process after the last burst",
        Labels = ["then", "trimmed by"],
        Columns = [.. s_parts.Select(part => new ResultColumn(Ranking.Invariant($"at {part * figures[0].Run.Watch.TotalSeconds:0.##} s"), "MB", "0"))],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.Afterwards, figure.Trigger], [.. s_parts.Select(part => (double?)figure.ResidentAt(part))])),
        ],
    };

    private static ResultTable CreateWork(List<TrimmingFigures> figures) => new()
    {
        Title = "What it costs during the bursts (means of all processes)",
        Labels = ["trimmed by"],
        Columns =
        [
            new ResultColumn("bursts", "a second", "0.0"),
            new ResultColumn("against timer", "×", "0.00"),
            new ResultColumn("collections", null, "0.0"),
            new ResultColumn("of Gen2", null, "0.0"),
            new ResultColumn("induced", null, "0.0"),
            new ResultColumn("paused", "ms", "0.0"),
        ],
        Rows =
        [
            .. figures.GroupBy(figure => figure.Trigger).Select(trigger => new ResultRow(
                [trigger.Key],
                [
                    trigger.Average(figure => figure.Result.BurstsPerSecond),
                    trigger.Average(figure => figure.Result.BurstsPerSecond) / BurstsPerSecond(figures, TrimTrigger.Timer),
                    trigger.Average(figure => figure.Result.Work.All),
                    trigger.Average(figure => figure.Result.Work.Gen2),
                    trigger.Average(figure => figure.Result.Work.Induced),
                    trigger.Average(figure => figure.Result.Work.PauseMilliseconds),
                ])),
        ],
    };

    private static ResultTable CreateWatched(List<TrimmingFigures> figures) => new()
    {
        Title = "The collector while the process is watched",
        Labels = ["then", "trimmed by"],
        Columns =
        [
            new ResultColumn("collections", null, "0"),
            new ResultColumn("of Gen2", null, "0"),
            new ResultColumn("induced", null, "0"),
            new ResultColumn("paused", "ms", "0.0"),
        ],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.Afterwards, figure.Trigger],
                [figure.Result.Idle.All, figure.Result.Idle.Gen2, figure.Result.Idle.Induced, figure.Result.Idle.PauseMilliseconds])),
        ],
    };

    private static double BurstsPerSecond(List<TrimmingFigures> figures, TrimTrigger trigger)
        => figures.Where(figure => figure.Run.Trigger == trigger).Average(figure => figure.Result.BurstsPerSecond);

    private static ResultChart CreateChart(List<TrimmingFigures> figures, Aftermath aftermath)
    {
        TrimmingFigures[] shown = [.. figures.Where(figure => figure.Run.Aftermath == aftermath)];
        return new ResultChart
        {
            Title = $"Idle memory after a burst, then {shown[0].Afterwards}",
            Kind = ChartKind.Lines,
            X = "time since the burst (s)",
            Y = "idle in the pool (MB)",
            Series =
            [
                .. shown.Select(figure => new ResultSeries(
                    figure.Trigger, [.. figure.Result.Samples.Select(sample => new ResultPoint(sample.Seconds, MemorySize.ToMegabytes(sample.RetainedBytes)))])),
            ],
        };
    }

    private static IEnumerable<string> CreateNotes(List<TrimmingFigures> figures)
    {
        yield return "Then: what the process allocates after its bursts, at most 200 MB a second; an object lives until 100,000 (short) or 1,000,000 (long) others have been made. Each row is one process.";
        yield return "Pressure: GC.AddMemoryPressure and GC.RemoveMemoryPressure, called when a block gets and loses memory (committed), or when it is returned and when it is rented or loses memory (retained).";
        yield return Ranking.Invariant(
            $"Where there is a timer, the library asks for one Gen2 collection a period as long as blocks are out; the period is {figures[0].Run.Period.TotalSeconds} s here, and {new MemoryAllocatorOptions().TrimPeriod.TotalSeconds} s by default.");
        foreach (IGrouping<string, TrimmingFigures> afterwards in figures.GroupBy(figure => figure.Afterwards))
        {
            yield return Ranking.LeastFirst(
                $"Idle memory held, then {afterwards.Key}", "% of all", "0", afterwards.Select(figure => (figure.Trigger, 100 * figure.HeldPart)));
        }

        yield return Ranking.MostFirst(
            "Bursts a second against the timer alone",
            "×",
            "0.00",
            Enum.GetValues<TrimTrigger>().Select(trigger => (TrimTriggers.NameOf(trigger), BurstsPerSecond(figures, trigger) / BurstsPerSecond(figures, TrimTrigger.Timer))));
        yield return Ranking.LeastFirst(
            "Collections that somebody asked for, over all of a process's time",
            string.Empty,
            "0.0",
            Enum.GetValues<TrimTrigger>().Select(trigger => (
                TrimTriggers.NameOf(trigger),
                figures.Where(figure => figure.Run.Trigger == trigger).Average(figure => (double)figure.Result.Work.Induced + figure.Result.Idle.Induced))));
    }
}

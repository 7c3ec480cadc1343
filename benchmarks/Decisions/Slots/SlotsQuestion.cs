using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Decisions.Machines;
using Decisions.Questions;
using Measuring.Results;
using Measuring.Timing;

namespace Decisions.Slots;

/// <summary>Blocks kept for each thread, for each core, or for all? And how far apart?</summary>
internal sealed class SlotsQuestion : Question
{
    private static readonly int[] s_threads = [1, 2, 8, 32];
    private static readonly int[] s_held = [1, 4];
    private static readonly int[] s_distances = [0, 64, 128];

    /// <inheritdoc/>
    public override string Name => "slots";

    /// <inheritdoc/>
    public override string Title => "Slots in front of the free maps: for each thread, for each core or for all, and how far apart";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        int rounds = effort.Choose(9, 1);
        TimeSpan sample = TimeSpan.FromMilliseconds(effort.Choose(50, 2));
        List<SlotsTime> times = MeasureTimes(rounds, sample);
        List<(string Slots, string Use, IdleMemory Memory)> idle = MeasureIdle(effort.Choose(32, 8));
        List<SpacedTime> spaced = MeasureSpaced(rounds, sample);
        return new Answer
        {
            Tables = [CreateTimes(rounds, times), CreateIdle(idle), CreateSpaced(rounds, spaced)],
            Charts = [CreateTimesChart(times), CreateSpacedChart(spaced)],
            Notes = [.. CreateNotes(times, idle, spaced)],
        };
    }


    private static BlockPool[] CreatePools(int blocks)
    {
        return
        [
            new SlottedPool<PerCoreSlots>(blocks),
            new SlottedPool<CachedBlocks>(blocks),
            new SlottedPool<PerThreadSlots>(blocks),
            new SlottedPool<TrimmableThreadSlots>(blocks),
        ];
    }

    private static List<SlotsTime> MeasureTimes(int rounds, TimeSpan sample)
    {
        List<SlotsTime> times = [];
        foreach (int threads in s_threads)
        {
            foreach (int held in s_held)
            {
                // What threads hold, what their slots keep, and some room.
                RentingTeam[] teams = [.. CreatePools(4 * threads * held + 64).Select(pool => new RentingTeam(pool, threads, held))];
                SideBySide race = new(rounds, sample);
                Array.ForEach(teams, team => race.Add(team.Slots, team.Run));
                times.AddRange(race.Run().Select(time => new SlotsTime(time.Name, threads, held, time.Median, time.Ratio)));
                Array.ForEach(teams, static team => team.Dispose());
            }
        }

        return times;
    }

    private static List<(string Slots, string Use, IdleMemory Memory)> MeasureIdle(int threads)
    {
        List<(string Slots, string Use, IdleMemory Memory)> figures = [];
        foreach ((int held, bool atOnce) in new[] { (1, false), (4, false), (1, true) })
        {
            string use = $"{threads} threads, {held} each, {(atOnce ? "all at once" : "one after the other")}";
            int blocks = threads * held * 2;
            foreach (BlockPool pool in new BlockPool[] { new LibraryPool(blocks), new SlottedPool<PerThreadSlots>(blocks) })
            {
                figures.Add((pool.Name, use, IdleThreads.Measure(pool, threads, held, atOnce)));
            }
        }

        return figures;
    }

    private static List<SpacedTime> MeasureSpaced(int rounds, TimeSpan sample)
    {
        List<SpacedTime> times = [];
        foreach (int held in s_held)
        {
            SpacedTeam[] teams = [.. s_distances.SelectMany(distance => new[] { new SpacedTeam(distance, 1, held), new SpacedTeam(distance, 2, held) })];
            SideBySide race = new(rounds, sample);
            Array.ForEach(teams, team => race.Add($"{team.Distance}", team.Run));
            IReadOnlyList<OperationTime> results = race.Run();
            for (int i = 0; i < teams.Length; i += 2)
            {
                times.Add(new SpacedTime(teams[i].Distance, held, results[i].Median, results[i + 1].Median));
            }

            Array.ForEach(teams, static team => team.Dispose());
        }

        return times;
    }

    private static ResultTable CreateTimes(int rounds, List<SlotsTime> times) => new()
    {
        Title = $"A block taken and put back: wall time over the operations of all threads (medians of {rounds} rounds)",
        Labels = ["threads", "held at a time", "slots"],
        Columns = [new ResultColumn("time", "ns", "0.0"), new ResultColumn("against per core", "×", "0.00")],
        Rows = [.. times.Select(time => new ResultRow([$"{time.Threads}", $"{time.Held}", time.Slots], [time.Nanoseconds, time.Ratio]))],
    };

    private static ResultTable CreateIdle(List<(string Slots, string Use, IdleMemory Memory)> figures) => new()
    {
        Title = "What the pool keeps when all threads have returned their blocks, live on, and are idle",
        Labels = ["use", "slots"],
        Columns =
        [
            new ResultColumn("committed", "MB", "0"),
            new ResultColumn("resident", "MB", "0"),
            new ResultColumn("out of another thread's reach", "MB", "0"),
        ],
        Rows =
        [
            .. figures.Select(figure => new ResultRow(
                [figure.Use, figure.Slots],
                [
                    MemorySize.ToMegabytes(figure.Memory.Committed),
                    MemorySize.ToMegabytes(figure.Memory.Resident),
                    MemorySize.ToMegabytes(figure.Memory.OutOfReach),
                ])),
        ],
    };

    private static ResultTable CreateSpaced(int rounds, List<SpacedTime> times) => new()
    {
        Title = $"A model of slots and state words at different distances (medians of {rounds} rounds)",
        Labels = ["held at a time", "distance"],
        Columns =
        [
            new ResultColumn("1 thread", "ns", "0.0"),
            new ResultColumn("2 threads", "ns", "0.0"),
            new ResultColumn("throughput of 2 against 1", "×", "0.00"),
        ],
        Rows = [.. times.Select(time => new ResultRow([$"{time.Held}", NameOf(time.Distance)], [time.OneThread, time.TwoThreads, time.Scaling]))],
    };

    private static ResultChart CreateTimesChart(List<SlotsTime> times) => new()
    {
        Title = "A block taken and put back, one held at a time",
        Kind = ChartKind.Lines,
        X = "threads",
        Y = "wall time over the operations of all threads (ns)",
        LogarithmicX = true,
        Series =
        [
            .. times.Where(time => time.Held == 1).GroupBy(time => time.Slots)
                .Select(slots => new ResultSeries(slots.Key, [.. slots.Select(time => new ResultPoint(time.Threads, time.Nanoseconds))])),
        ],
    };

    private static ResultChart CreateSpacedChart(List<SpacedTime> times) => new()
    {
        Title = "What a second thread adds, by the distance between the threads' slots and state words",
        Kind = ChartKind.Bars,
        X = "distance (bytes)",
        Y = "throughput of two threads (× that of one)",
        Categories = [.. s_distances.Select(NameOf)],
        Series =
        [
            .. times.GroupBy(time => time.Held).Select(held => new ResultSeries(
                $"{held.Key} held at a time", [.. held.Select((time, i) => new ResultPoint(i, time.Scaling))])),
        ],
    };

    private static IEnumerable<string> CreateNotes(
        List<SlotsTime> times, List<(string Slots, string Use, IdleMemory Memory)> idle, List<SpacedTime> spaced)
    {
        foreach (IGrouping<string, SlotsTime> slots in times.GroupBy(time => time.Slots).Skip(1))
        {
            yield return $"{slots.Key}: {slots.Min(time => time.Ratio):0.00} to {slots.Max(time => time.Ratio):0.00} times the time of {times[0].Slots}, over all rows.";
        }

        foreach (IGrouping<string, (string Slots, string Use, IdleMemory Memory)> use in idle.GroupBy(figure => figure.Use))
        {
            yield return Ranking.LeastFirst($"{use.Key}, committed afterwards", "MB", "0", use.Select(figure => (figure.Slots, MemorySize.ToMegabytes(figure.Memory.Committed))));
        }

        foreach (IGrouping<int, SpacedTime> held in spaced.GroupBy(time => time.Held))
        {
            yield return Ranking.MostFirst($"Throughput of 2 threads against 1, {held.Key} held", "×", "0.00", held.Select(time => (NameOf(time.Distance), time.Scaling)));
        }

        if (Environment.ProcessorCount == 1)
        {
            yield return "There is one core only: two threads never run at the same time, and distances do not matter here.";
        }
    }

    private static string NameOf(int distance) => distance == 0 ? "unpadded" : distance.ToString(CultureInfo.InvariantCulture) + " bytes";
}

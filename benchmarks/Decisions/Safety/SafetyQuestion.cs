using System;
using System.Buffers;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Allocator;
using Decisions.Questions;
using Measuring.Results;
using Measuring.Timing;

namespace Decisions.Safety;

/// <summary>What does it cost to watch one rent in a thousand, and every rent?</summary>
internal sealed class SafetyQuestion : Question
{
    private static readonly int[] s_lengths = [4 << 20, 64 << 10];

    /// <inheritdoc/>
    public override string Name => "safety";

    /// <inheritdoc/>
    public override string Title => "What the safety modes cost a loop that rents, clears and returns";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        int rounds = effort.Choose(41, 5);
        List<(int Length, OperationTime Time)> times = [];
        foreach (int length in s_lengths)
        {
            // Long samples: a sample of the loop has to hold many of the rents that are watched.
            int milliseconds = length > 1 << 20 ? 1000 : 300;
            times.AddRange(Measure(length, rounds, TimeSpan.FromMilliseconds(effort.Choose(milliseconds, 20))).Select(time => (length, time)));
        }

        return new Answer
        {
            Tables = [CreateTable(rounds, times)],
            Notes = [.. times.Where(row => row.Time.Name != Names[0]).Select(Describe), .. s_lengths.Select(length => Compute(length, times))],
        };
    }

    // Standard twice: how far the second is from the first tells how far the others' ratios can be trusted.
    private static string[] Names => ["Standard", "Standard again", "Sampled, 1 in 1,000", "Sampled, none chosen", "Sampled, all chosen", "Guarded"];

    private static IReadOnlyList<OperationTime> Measure(int length, int rounds, TimeSpan sample)
    {
        using MemoryAllocator standard = Create(SafetyMode.Standard, 1);
        using MemoryAllocator again = Create(SafetyMode.Standard, 1);
        using MemoryAllocator sampled = Create(SafetyMode.Sampled, 1000);
        using MemoryAllocator none = Create(SafetyMode.Sampled, int.MaxValue);
        using MemoryAllocator all = Create(SafetyMode.Sampled, 1);
        using MemoryAllocator guarded = Create(SafetyMode.Guarded, 1);
        SideBySide race = new(rounds, sample);
        foreach ((string name, MemoryAllocator allocator) in Names.Zip((MemoryAllocator[])[standard, again, sampled, none, all, guarded]))
        {
            race.Add(name, count => Loop(allocator, length, count));
        }

        return race.Run();
    }

    private static MemoryAllocator Create(SafetyMode mode, int interval) =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = interval, MaximumPoolSizeMegabytes = 256 });

    private static void Loop(MemoryAllocator allocator, int length, int count)
    {
        for (int i = 0; i < count; i++)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            owner.Memory.Span.Clear();
        }
    }

    private static ResultTable CreateTable(int rounds, List<(int Length, OperationTime Time)> times) => new()
    {
        Title = $"A buffer rented, cleared and returned (medians of {rounds} rounds)",
        Labels = ["KiB", "mode"],
        Columns = [new ResultColumn("time", "µs", "0.000"), new ResultColumn("against Standard", "×", "0.000")],
        Rows =
        [
            .. times.Select(row => new ResultRow(
                [(row.Length >> 10).ToString(CultureInfo.InvariantCulture), row.Time.Name], [row.Time.Median / 1000, row.Time.Ratio])),
        ],
    };

    private static string Describe((int Length, OperationTime Time) row) =>
        Ranking.Invariant($"{row.Length >> 10} KiB, {row.Time.Name}: {(row.Time.Ratio - 1) * 100:0.0} % over {Names[0]}.");

    // Direct measurement of so little drowns in what else the machine does; a thousandth of a large figure does not.
    private static string Compute(int length, List<(int Length, OperationTime Time)> times)
    {
        double RatioOf(string name) => times.First(row => row.Length == length && row.Time.Name == name).Time.Ratio;
        double watched = RatioOf(Names[4]) - RatioOf(Names[3]);
        return Ranking.Invariant($"{length >> 10} KiB: a watched rent takes {watched:0.0} times the loop longer than one that is not, so one in 1,000 adds {watched / 10:0.00} %.");
    }
}

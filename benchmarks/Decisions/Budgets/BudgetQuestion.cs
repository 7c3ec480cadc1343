using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using Allocator;
using Decisions.Questions;
using Measuring.Results;
using Measuring.Timing;

namespace Decisions.Budgets;

/// <summary>What does a memory budget cost that always has room, and a reservation?</summary>
internal sealed class BudgetQuestion : Question
{
    private static readonly (int Length, int Threads)[] s_cases = [(4 << 20, 1), (4 << 20, 2), (64 << 10, 1), (64 << 10, 2)];

    // Without a budget twice: how far the second is from the first tells how far the others' ratios can be trusted.
    private static readonly string[] s_names = ["no budget", "no budget again", "budget", "reservation of a budget"];

    /// <inheritdoc/>
    public override string Name => "budget";

    /// <inheritdoc/>
    public override string Title => "What a memory budget costs a rent that fits it";

    /// <inheritdoc/>
    public override Answer Ask(Effort effort)
    {
        int rounds = effort.Choose(41, 5);
        TimeSpan sample = TimeSpan.FromMilliseconds(effort.Choose(100, 10));
        List<(int Length, int Threads, OperationTime Time)> times = [];
        foreach ((int length, int threads) in s_cases)
        {
            times.AddRange(Measure(length, threads, rounds, sample).Select(time => (length, threads, time)));
        }

        return new Answer
        {
            Tables = [CreateTable(rounds, times)],
            Notes = [.. times.Where(row => row.Time.Name != s_names[0]).Select(Describe)],
        };
    }

    private static IReadOnlyList<OperationTime> Measure(int length, int threads, int rounds, TimeSpan sample)
    {
        using MemoryAllocator none = Create(null);
        using MemoryAllocator again = Create(null);
        using MemoryAllocator budget = Create(1024);
        using MemoryAllocator reserving = Create(1024);
        using MemoryReservation reservation = reserving.ReserveAsync(512L << 20).AsTask().GetAwaiter().GetResult();
        SideBySide race = new(rounds, sample);
        foreach ((string name, MemoryAllocator allocator) in s_names.Zip((MemoryAllocator[])[none, again, budget, reservation]))
        {
            race.Add(name, count => OnThreads(threads, () => Loop(allocator, length, count)));
        }

        return race.Run();
    }

    private static MemoryAllocator Create(int? budget) =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = budget, MaximumPoolSizeMegabytes = 256, Safety = SafetyMode.Standard });

    private static void OnThreads(int threads, Action loop)
    {
        if (threads == 1)
        {
            loop();
        }
        else
        {
            Parallel.Invoke([.. Enumerable.Repeat(loop, threads)]);
        }
    }

    private static void Loop(MemoryAllocator allocator, int length, int count)
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Allocate<byte>(length).Dispose();
        }
    }

    private static ResultTable CreateTable(int rounds, List<(int Length, int Threads, OperationTime Time)> times) => new()
    {
        Title = $"A buffer rented and returned, by each thread (medians of {rounds} rounds)",
        Labels = ["KiB", "threads", "allocator"],
        Columns = [new ResultColumn("time", "ns", "0.0"), new ResultColumn("against no budget", "×", "0.00")],
        Rows =
        [
            .. times.Select(row => new ResultRow(
                [(row.Length >> 10).ToString(CultureInfo.InvariantCulture), row.Threads.ToString(CultureInfo.InvariantCulture), row.Time.Name],
                [row.Time.Median, row.Time.Ratio])),
        ],
    };

    private static string Describe((int Length, int Threads, OperationTime Time) row) =>
        Ranking.Invariant($"{row.Length >> 10} KiB, {row.Threads} threads, {row.Time.Name}: {row.Time.Ratio:0.00} times {s_names[0]}.");
}

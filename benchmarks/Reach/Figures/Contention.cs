using System.Collections.Generic;
using Allocator;
using Measuring.Classic;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>Owners of 4 MiB, allocated and disposed by several threads at once.</summary>
internal static class Contention
{
    private const int Length = 4 << 20;

    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 64);
        foreach (int threads in (int[])[2, 8])
        {
            using ThreadTeam alone = new(1, (_, count) => Rent(allocator, count));
            using ThreadTeam ours = new(threads, (_, count) => Rent(allocator, count));
            using ThreadTeam theirs = new(threads, (_, count) => Rent(classic, count));
            SideBySide comparison = effort.Compare();
            comparison.Add("pool", ours.Run);
            comparison.Add("classic", theirs.Run);
            comparison.Add("one thread", alone.Run);
            IReadOnlyList<OperationTime> times = comparison.Run();
            yield return new Figure
            {
                What = $"Allocate 4 MB + Dispose, {threads} threads: times faster",
                Against = "classic model",
                Measured = times[1].Ratio,
                Limit = 12,
                MoreIsBetter = true,
                // Where a neighbour takes one of two cores there is no contention to be better at.
                Margin = 12,
            };
            if (threads == 2)
            {
                yield return new Figure
                {
                    What = "Allocate 4 MB + Dispose, 2 threads: times its throughput",
                    Against = "1 thread",
                    Measured = times[2].Ratio,
                    Limit = 1.7,
                    MoreIsBetter = true,
                    Margin = 6,
                };
            }
        }

        classic.Release();
    }

    private static void Rent(MemoryAllocator allocator, int count)
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Allocate<byte>(Length).Dispose();
        }
    }

    private static void Rent(ClassicAllocator allocator, int count)
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Allocate<byte>(Length).Dispose();
        }
    }
}

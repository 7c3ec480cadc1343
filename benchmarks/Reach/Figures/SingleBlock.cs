using System.Buffers;
using System.Collections.Generic;
using Allocator;
using Measuring.Classic;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>One owner of 4 MiB, allocated and disposed by one thread.</summary>
internal static class SingleBlock
{
    private const int Length = 4 << 20;

    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 8);
        SideBySide comparison = effort.Compare();
        comparison.Add("pool", count =>
        {
            for (int i = 0; i < count; i++)
            {
                allocator.Allocate<byte>(Length).Dispose();
            }
        });
        comparison.Add("classic", count =>
        {
            for (int i = 0; i < count; i++)
            {
                classic.Allocate<byte>(Length).Dispose();
            }
        });
        comparison.Add("MemoryPool", count =>
        {
            for (int i = 0; i < count; i++)
            {
                MemoryPool<byte>.Shared.Rent(Length).Dispose();
            }
        });

        IReadOnlyList<OperationTime> times = comparison.Run();
        classic.Release();
        yield return new Figure
        {
            What = "Allocate 4 MB + Dispose, 1 thread: times faster",
            Against = "classic model",
            Measured = times[1].Ratio,
            Limit = 4,
            Aim = 8,
            MoreIsBetter = true,
            Margin = 3,
        };
        yield return new Figure
        {
            What = "Allocate 4 MB + Dispose, 1 thread: share of its time",
            Against = "MemoryPool<byte>.Shared",
            Measured = 1 / times[2].Ratio,
            Limit = 2.5,
            Aim = 1.5,
            Margin = 2.5,
        };
        yield return new Figure
        {
            What = "Allocate 4 MB + Dispose: GC bytes",
            Against = "bytes",
            Measured = times[0].AllocatedBytes,
            Limit = 40,
        };
    }
}

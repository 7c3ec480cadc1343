using System.Buffers;
using System.Collections.Generic;
using Allocator;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>Requests that are served by arrays.</summary>
internal static class SmallRequest
{
    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (int length in (int[])[64 << 10, 1 << 20])
        {
            SideBySide comparison = effort.Compare();
            comparison.Add("ArrayPool", count =>
            {
                ArrayPool<byte> arrays = ArrayPool<byte>.Shared;
                for (int i = 0; i < count; i++)
                {
                    arrays.Return(arrays.Rent(length));
                }
            });
            comparison.Add("owner", count =>
            {
                for (int i = 0; i < count; i++)
                {
                    allocator.Allocate<byte>(length).Dispose();
                }
            });
            comparison.Add("lease", count =>
            {
                for (int i = 0; i < count; i++)
                {
                    allocator.Rent<byte>(length).Dispose();
                }
            });

            IReadOnlyList<OperationTime> times = comparison.Run();
            yield return new Figure
            {
                What = $"Allocate {length >> 10} KB + Dispose: share of its time",
                Against = "ArrayPool<byte>.Shared",
                Measured = times[1].Ratio,
                Limit = 3,
                Margin = 3,
            };
            yield return new Figure
            {
                What = $"Rent {length >> 10} KB + Dispose: share of its time",
                Against = "ArrayPool<byte>.Shared",
                Measured = times[2].Ratio,
                Limit = 4,
                Aim = 2,
                Margin = 2.5,
            };
            yield return new Figure { What = $"Allocate {length >> 10} KB + Dispose: GC bytes", Against = "bytes", Measured = times[1].AllocatedBytes, Limit = 40 };
        }
    }
}

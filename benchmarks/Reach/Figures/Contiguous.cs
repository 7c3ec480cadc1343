using System.Collections.Generic;
using System.Runtime.InteropServices;
using Allocator;
using Measuring.Memory;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>Contiguous images: allocated, a byte of each page written, given back; over and over.</summary>
internal static class Contiguous
{
    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        yield return new Figure
        {
            What = "64 MB contiguous, allocate + touch + dispose: times faster",
            Against = "AllocHGlobal",
            Measured = 1 / Compare(effort, 64 << 20),
            Limit = 20,
            MoreIsBetter = true,
            Margin = 2,
        };
        yield return new Figure
        {
            What = "14 MB contiguous, allocate + touch + dispose: share of its time",
            Against = "AllocHGlobal",
            Measured = Compare(effort, 14 << 20),
            Limit = 1.1,
            Margin = 2,
        };
    }

    private static double Compare(Effort effort, int length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        SideBySide comparison = effort.CompareLong();
        comparison.Add("AllocHGlobal", count =>
        {
            for (int i = 0; i < count; i++)
            {
                nint memory = Marshal.AllocHGlobal(length);
                PageTouch.Write(memory, length);
                Marshal.FreeHGlobal(memory);
            }
        });
        comparison.Add("pool", count =>
        {
            for (int i = 0; i < count; i++)
            {
                using MemoryLease<byte> lease = allocator.Rent<byte>(length);
                PageTouch.Write(lease.Span);
            }
        });
        return comparison.Run()[1].Ratio;
    }
}

using System.Collections.Generic;
using System.Runtime.InteropServices;
using Allocator;
using Measuring.Memory;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>Memory beyond the pool: it comes from the system each time, and the first write to each page is what it costs.</summary>
internal static class FirstTouch
{
    /// <summary>Measures. <paramref name="hasHugePages"/> tells whether the system gives huge pages to those who ask.</summary>
    public static IEnumerable<Figure> Measure(Effort effort, bool hasHugePages)
    {
        // Without a pool every request is oversize.
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        foreach (int length in (int[])[32 << 20, 128 << 20])
        {
            SideBySide comparison = effort.CompareLong();
            comparison.Add("pool", count =>
            {
                for (int i = 0; i < count; i++)
                {
                    using MemoryLease<byte> lease = allocator.Rent<byte>(length);
                    PageTouch.Write(lease.Span);
                }
            });
            comparison.Add("AllocHGlobal", count =>
            {
                for (int i = 0; i < count; i++)
                {
                    nint memory = Marshal.AllocHGlobal(length);
                    PageTouch.Write(memory, length);
                    Marshal.FreeHGlobal(memory);
                }
            });
            yield return new Figure
            {
                What = $"First touch of {length >> 20} MB beyond the pool: times faster",
                Against = "AllocHGlobal",
                Measured = hasHugePages ? comparison.Run()[1].Ratio : null,
                Limit = 5,
                MoreIsBetter = true,
                Margin = 3,
            };
        }
    }
}

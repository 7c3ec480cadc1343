using System;
using System.Collections.Generic;
using Allocator;
using Measuring.Classic;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>A discontiguous pixel buffer of 64 MiB.</summary>
internal static class PixelGroup
{
    private const int Width = 4096;
    private const int Height = 4096;

    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 32);
        SideBySide comparison = effort.Compare();
        comparison.Add("pool", count =>
        {
            for (int i = 0; i < count; i++)
            {
                allocator.AllocatePixels<uint>(Width, Height).Dispose();
            }
        });
        comparison.Add("classic", count =>
        {
            for (int i = 0; i < count; i++)
            {
                classic.AllocateRows<uint>(Width, Height).Dispose();
            }
        });
        IReadOnlyList<OperationTime> times = comparison.Run();
        classic.Release();

        yield return new Figure
        {
            What = "Pixel buffer of 64 MB in 16 blocks: times faster",
            Against = "classic model",
            Measured = times[1].Ratio,
            Limit = 5,
            MoreIsBetter = true,
            Margin = 2.5,
        };

        // The buffer, its group, and one array of addresses: what is allocated grows by one pointer a block, and by no object.
        double sixteenMore = BytesOf(allocator, 2 * Height) - times[0].AllocatedBytes;
        yield return new Figure { What = "Pixel buffer: GC bytes for a further block", Against = "bytes", Measured = sixteenMore / 16, Limit = IntPtr.Size };
    }

    private static long BytesOf(MemoryAllocator allocator, int height)
    {
        allocator.AllocatePixels<uint>(Width, height).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        allocator.AllocatePixels<uint>(Width, height).Dispose();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}

using System.Buffers;
using System.Collections.Generic;
using Allocator;
using Measuring.Timing;

namespace Reach.Figures;

/// <summary>A lease of 4 MiB against an array of the shared pool, one and four held at a time.</summary>
internal static class Lease
{
    private const int Length = 4 << 20;

    /// <summary>Measures.</summary>
    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ArrayPool<byte> arrays = ArrayPool<byte>.Shared;
        SideBySide one = effort.Compare();
        one.Add("ArrayPool", count =>
        {
            for (int i = 0; i < count; i++)
            {
                arrays.Return(arrays.Rent(Length));
            }
        });
        one.Add("lease", count =>
        {
            for (int i = 0; i < count; i++)
            {
                allocator.Rent<byte>(Length).Dispose();
            }
        });

        IReadOnlyList<OperationTime> held = one.Run();
        yield return new Figure
        {
            What = "Rent 4 MB + Dispose, one held: share of its time",
            Against = "ArrayPool<byte>.Shared",
            Measured = held[1].Ratio,
            Limit = 4,
            Aim = 2,
            Margin = 2.5,
        };
        yield return new Figure { What = "Rent 4 MB + Dispose: GC bytes", Against = "bytes", Measured = held[1].AllocatedBytes, Limit = 0 };

        SideBySide four = effort.Compare();
        four.Add("ArrayPool", count => RentFourArrays(arrays, count));
        four.Add("lease", count => RentFourLeases(allocator, count));
        yield return new Figure
        {
            What = "Rent 4 MB + Dispose, four held: share of its time",
            Against = "ArrayPool<byte>.Shared",
            Measured = four.Run()[1].Ratio,
            Limit = 1,
            Margin = 2,
        };
    }

    private static void RentFourArrays(ArrayPool<byte> arrays, int count)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] first = arrays.Rent(Length);
            byte[] second = arrays.Rent(Length);
            byte[] third = arrays.Rent(Length);
            byte[] fourth = arrays.Rent(Length);
            arrays.Return(fourth);
            arrays.Return(third);
            arrays.Return(second);
            arrays.Return(first);
        }
    }

    private static void RentFourLeases(MemoryAllocator allocator, int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> first = allocator.Rent<byte>(Length);
            using MemoryLease<byte> second = allocator.Rent<byte>(Length);
            using MemoryLease<byte> third = allocator.Rent<byte>(Length);
            using MemoryLease<byte> fourth = allocator.Rent<byte>(Length);
        }
    }
}

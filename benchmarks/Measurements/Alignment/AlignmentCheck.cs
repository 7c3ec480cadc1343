namespace Measurements.Alignment;

/// <summary>
/// Holds a buffer of each size at the same time, and looks whether each begins where it was promised to, and whether what is written to
/// its two ends is still there when all the others have been written.
/// </summary>
internal static class AlignmentCheck
{
    private const int Buffers = 200;

    // 7680 × 4320 pixels of 4 bytes.
    private const int Largest = 7680 * 4320 * 4;

    /// <summary>Checks all ways, and adds what was wrong to <paramref name="failures"/>: a sentence a buffer, which names it.</summary>
    public static ResultTable Run(IList<string> failures)
    {
        using AllocationWays ways = new();
        return new ResultTable
        {
            Title = $"Alignment of {Buffers} buffers held at once, from 1 byte to {Largest:N0} (8K, 32 bits a pixel)",
            Labels = ["way of allocating"],
            Columns =
            [
                new("buffers", null, "0"), new("promised, least", "bytes", "N0"), new("promised, most", "bytes", "N0"),
                new("all are multiples of", "bytes", "N0"), new($"on {AllocationWays.Alignment} bytes", null, "0"),
                new("wrong", null, "0"),
            ],
            Rows = [.. ways.ForChecks().Select(way => Check(way, Sizes(), failures))],
        };
    }

    // From one byte to an 8K image, each larger than the last by the same factor, and none twice.
    private static int[] Sizes()
    {
        int[] sizes = new int[Buffers];
        sizes[0] = 1;
        for (int i = 1; i < Buffers; i++)
        {
            // The first steps are below one byte: they are rounded up to it.
            sizes[i] = Math.Max(sizes[i - 1] + 1, (int)Math.Round(Math.Pow(Largest, i / (Buffers - 1.0))));
        }

        return sizes;
    }

    private static ResultRow Check(AllocationWay way, int[] sizes, IList<string> failures)
    {
        int before = failures.Count;
        List<(Func<Span<byte>> GetBytes, Action Free)> buffers = new(sizes.Length);
        try
        {
            long allAddresses = 0;
            int onCacheLines = 0;
            for (int i = 0; i < sizes.Length; i++)
            {
                buffers.Add(way.Hold(sizes[i]));
                Span<byte> bytes = buffers[i].GetBytes();
                long address = AddressOf(bytes);
                allAddresses |= address;
                onCacheLines += address % AllocationWays.Alignment == 0 ? 1 : 0;
                if (address % way.PromisedAlignment(sizes[i]) != 0)
                {
                    failures.Add(
                        $"{way.Name}: buffer {i} of {sizes[i]} bytes begins at 0x{address:x}, which is aligned to "
                            + $"{AlignmentOf(address)} bytes; "
                        + $"{way.PromisedAlignment(sizes[i])} were promised.");
                }

                (bytes[0], bytes[^1]) = (Stamp(i), Stamp(i));
            }

            for (int i = 0; i < sizes.Length; i++)
            {
                Span<byte> bytes = buffers[i].GetBytes();
                if (bytes.Length != sizes[i] || bytes[0] != Stamp(i) || bytes[^1] != Stamp(i))
                {
                    failures.Add(
                        $"{way.Name}: buffer {i} of {sizes[i]} bytes does not hold what was written: it shares memory with another.");
                }
            }

            return new ResultRow(
                [way.Name],
                [
                    sizes.Length, sizes.Min(way.PromisedAlignment), sizes.Max(way.PromisedAlignment), AlignmentOf(allAddresses),
                    onCacheLines, failures.Count - before,
                ]);
        }
        finally
        {
            buffers.ForEach(buffer => buffer.Free());
        }
    }

    private static byte Stamp(int index) => (byte)(index + 1);

    private static long AlignmentOf(long address) => 1L << BitOperations.TrailingZeroCount(address);

    private static unsafe long AddressOf(Span<byte> bytes) => (long)Unsafe.AsPointer(ref MemoryMarshal.GetReference(bytes));
}

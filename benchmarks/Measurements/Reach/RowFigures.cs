namespace Measurements.Reach;

/// <summary>Going through rows, one pixel of each read.</summary>
internal static class RowFigures
{
    private const int Width = 256;
    private const int OneBlockHeight = 2048;
    private const int ManyBlocksHeight = 65536;

    public static IEnumerable<Figure> Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PixelBuffer<uint> one = allocator.AllocatePixels<uint>(Width, OneBlockHeight, AllocationOptions.Clean);
        using PixelBuffer<uint> many = allocator.AllocatePixels<uint>(Width, ManyBlocksHeight, AllocationOptions.Clean);
        uint[] array = new uint[Width * OneBlockHeight];
        // Of the many blocks a band of as many rows in the middle, so that all three read as much memory.
        double[] shares = effort.Shares(
            Loops.Each(() => SumOfSlices(array, Width, OneBlockHeight)),
            passes => SumOfRows(one, passes),
            passes => SumOfRows(many, passes));
        foreach ((int index, string name) in ((int, string)[])[(1, "one block"), (2, "many blocks")])
        {
            yield return new Figure(
                $"GetRowSpan(y), {name}: share of its time", "span.Slice over an array", shares[index], Limit: 1.3, Margin: 4);
        }
    }

    /// <summary>
    /// All pixels copied or cleared, in one block and in many, against one call over as much memory that lies as theirs does: from the
    /// distance of two addresses within a page alone one copy takes up to 1.3 times the time of another.
    /// </summary>
    public static IEnumerable<Figure> OfAllPixels(Effort effort)
    {
        foreach ((int width, int height) in ((int, int)[])[(16, 1 << 15), (1024, 1024), (4096, 2048)])
        {
            int length = width * height;
            using MemoryAllocator allocator = MemoryAllocator.Create();
            using PixelBuffer<uint> source = allocator.AllocatePixels<uint>(width, height, AllocationOptions.Clean);
            using PixelBuffer<uint> target = allocator.AllocatePixels<uint>(width, height, AllocationOptions.Clean);
            using MemoryGroup<uint> group = allocator.AllocateGroup<uint>(length, options: AllocationOptions.Clean);
            using HugePageMemory plainSource = new(length * sizeof(uint));
            using HugePageMemory plainTarget = new(length * sizeof(uint));
            plainSource.GetSpan<uint>().Clear();
            uint[] from = new uint[length];
            uint[] to = new uint[length];
            (string Name, Action Operation, Action OneCall)[] all =
            [
                ("PixelBuffer.CopyTo", () => source.CopyTo(target), () => plainSource.GetSpan<uint>().CopyTo(plainTarget.GetSpan<uint>())),
                ("MemoryGroup.CopyTo", () => group.CopyTo(to), () => plainSource.GetSpan<uint>().CopyTo(to)),
                ("MemoryGroup.CopyFrom", () => group.CopyFrom(from), () => from.CopyTo(plainTarget.GetSpan<uint>())),
                ("PixelBuffer.Clear", () => target.Clear(), () => plainTarget.GetSpan<uint>().Clear()),
                ("MemoryGroup.Clear", () => group.Clear(), () => plainTarget.GetSpan<uint>().Clear()),
                ("MemoryGroup.Fill", () => group.Fill(7), () => plainTarget.GetSpan<uint>().Fill(7)),
            ];
            foreach ((string name, Action operation, Action oneCall) in all)
            {
                double share = effort.Shares(Loops.Each(oneCall), Loops.Each(operation))[1];
                yield return new Figure(
                    $"{name}, {width} × {height}: share of its speed", "one call over plain memory", 1 / share,
                    Limit: 0.95, MoreIsBetter: true, Margin: 2);
            }
        }
    }

    private static void SumOfRows(PixelBuffer<uint> buffer, int passes) => buffer.ProcessPixelRows(
        static (rows, passes) =>
        {
            int first = (rows.Height - OneBlockHeight) / 2;
            for (int i = 0; i < passes; i++)
            {
                SumOfRows(rows, first);
            }
        },
        passes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint SumOfRows(PixelAccessor<uint> rows, int first)
    {
        uint sum = 0;
        for (int y = first; y < first + OneBlockHeight; y++)
        {
            sum += rows.GetRowSpan(y)[^1];
        }

        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint SumOfSlices(Span<uint> pixels, int width, int height)
    {
        uint sum = 0;
        for (int y = 0; y < height; y++)
        {
            sum += pixels.Slice(y * width, width)[^1];
        }

        return sum;
    }
}

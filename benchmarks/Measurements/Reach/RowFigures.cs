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
        IReadOnlyList<OperationTime> times = effort.Compare(
            passes =>
            {
                for (int i = 0; i < passes; i++)
                {
                    SumOfSlices(array, Width, OneBlockHeight);
                }
            },
            passes => SumOfRows(one, passes),
            passes => SumOfRows(many, passes));
        foreach ((int index, string name) in ((int, string)[])[(1, "one block"), (2, "many blocks")])
        {
            yield return new Figure(
                $"GetRowSpan(y), {name}: share of its time", "span.Slice over an array", times[index].Ratio, Limit: 2, Margin: 4);
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

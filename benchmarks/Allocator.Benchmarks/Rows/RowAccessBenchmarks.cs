namespace Allocator.Benchmarks.Rows;

/// <summary>Walks over the rows of an image: what it costs to find one.</summary>
public class RowAccessBenchmarks : PoolBenchmarks
{
    private const int Rows = 16 * RowsPerBlock;
    private const int RowsPerBlock = 1024;
    private const int PixelsPerRow = 1024;

    private ClassicGroup<int>? _classicRows;
    private PixelBuffer<int>? _pixels;
    private PixelBuffer<int>? _contiguousPixels;
    private int[] _array = [];
    private int _width;
    private int _height;
    private nint _sum;

    [Params(1, 16)]
    public int Blocks { get; set; }

    private protected override void OnSetUp()
    {
        _width = PixelsPerRow;
        _height = RowsPerBlock * Blocks;
        _pixels = Pool.AllocatePixels<int>(_width, _height);
        _contiguousPixels = Pool.AllocatePixels<int>(_width, _height, AllocationOptions.Contiguous);
        _classicRows = ClassicAllocator.AllocateRows<int>(_width, _height);
        _array = new int[_width * _height];
        if (_pixels.IsContiguous != (Blocks == 1))
        {
            throw new InvalidOperationException($"The image should lie in {Blocks} blocks.");
        }
    }

    private protected override void OnCleanUp()
    {
        _pixels!.Dispose();
        _contiguousPixels!.Dispose();
        _classicRows!.Dispose();
    }

    [Benchmark(Baseline = true, Description = "span.Slice of an array", OperationsPerInvoke = Rows)]
    public nint ArraySlice()
    {
        nint sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            sum += SumSlices(_array);
        }

        return sum;
    }

    [Benchmark(Description = "PixelAccessor.GetRowSpan", OperationsPerInvoke = Rows)]
    public nint Accessor()
    {
        _sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            _pixels!.ProcessPixelRows(
                static (accessor, benchmarks) =>
                {
                    nint sum = 0;
                    for (int y = 0; y < accessor.Height; y++)
                    {
                        sum += Consume(accessor.GetRowSpan(y));
                    }

                    benchmarks._sum += sum;
                },
                this);
        }

        return _sum;
    }

    [Benchmark(Description = "DangerousGetRowSpan", OperationsPerInvoke = Rows)]
    public nint DangerousRow()
    {
        nint sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            for (int y = 0; y < _height; y++)
            {
                sum += Consume(_pixels!.DangerousGetRowSpan(y));
            }
        }

        return sum;
    }

    [Benchmark(Description = "DangerousTryGetSingleMemory, Slice", OperationsPerInvoke = Rows)]
    public nint SingleMemory()
    {
        nint sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            if (!_contiguousPixels!.DangerousTryGetSingleMemory(out Memory<int> memory))
            {
                throw new InvalidOperationException("The image is not in one piece.");
            }

            sum += SumSlices(memory.Span);
        }

        return sum;
    }

    [Benchmark(Description = "TryProcessSinglePixelSpan, Slice", OperationsPerInvoke = Rows)]
    public nint SingleSpan()
    {
        _sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            if (!_contiguousPixels!.TryProcessSinglePixelSpan(pixels => _sum += SumSlices(pixels)))
            {
                throw new InvalidOperationException("The image is not in one piece.");
            }
        }

        return _sum;
    }

    [Benchmark(Description = "classic", OperationsPerInvoke = Rows)]
    public nint Classic()
    {
        nint sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            for (int y = 0; y < _height; y++)
            {
                sum += Consume(_classicRows!.GetRow(y, _width));
            }
        }

        return sum;
    }

    // The width is read from a field, as an image's is: a constant would let the compiler turn the walk into additions.
    private nint SumSlices(Span<int> pixels)
    {
        nint sum = 0;
        int width = _width;
        for (int y = 0; y < _height; y++)
        {
            sum += Consume(pixels.Slice(y * width, width));
        }

        return sum;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static unsafe nint Consume(Span<int> row) => (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(row)) + row.Length;
}

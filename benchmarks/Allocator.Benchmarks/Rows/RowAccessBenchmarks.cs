namespace Allocator.Benchmarks.Rows;

/// <summary>Walks over the rows of an image: what it costs to find one.</summary>
public class RowAccessBenchmarks : PoolBenchmarks
{
    private const int Rows = 16 * RowsPerBlock;
    private const int RowsPerBlock = 1024;
    private const int PixelsPerRow = 1024;

    private PixelBuffer<int>? _pixels;
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
        _array = new int[_width * _height];
        if (_pixels.IsContiguous != (Blocks == 1))
        {
            throw new InvalidOperationException($"The image should lie in {Blocks} blocks.");
        }
    }

    private protected override void OnCleanUp() => _pixels!.Dispose();

    // The width is read from a field, as an image's is: a constant would let the compiler turn the walk into additions.
    [Benchmark(Baseline = true, Description = "span.Slice of an array", OperationsPerInvoke = Rows)]
    public nint ArraySlice()
    {
        nint sum = 0;
        for (int passed = 0; passed < Rows; passed += _height)
        {
            Span<int> pixels = _array;
            int width = _width;
            for (int y = 0; y < _height; y++)
            {
                sum += Consume(pixels.Slice(y * width, width));
            }
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

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static unsafe nint Consume(Span<int> row) => (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(row)) + row.Length;
}

/// <summary>
/// Copies, clears and fills all pixels, beside one call over as much plain memory that begins on a page as theirs does: from the distance
/// of two addresses within a page alone one copy takes up to 1.3 times the time of another.
/// </summary>
public class AllPixelsBenchmarks : PoolBenchmarks
{
    private const string Copied = "copy";
    private const string Cleared = "clear";
    private const string Filled = "fill";

    private readonly uint[] _array = new uint[Most];
    private PixelBuffer<uint> _source = null!;
    private PixelBuffer<uint> _target = null!;
    private MemoryGroup<uint> _group = null!;
    private nint _plainSource;
    private nint _plainTarget;

    private const int Most = 4096 * 2048;

    [Params(16, 1024, 4096)]
    public int Width { get; set; }

    // Half a megapixel, one, and eight.
    private int Height => Width == 16 ? 1 << 15 : Width == 1024 ? 1024 : 2048;

    private int Length => Width * Height;

    private protected override void OnSetUp()
    {
        _source = Pool.AllocatePixels<uint>(Width, Height, AllocationOptions.Clean);
        _target = Pool.AllocatePixels<uint>(Width, Height, AllocationOptions.Clean);
        _group = Pool.AllocateGroup<uint>(Length, options: AllocationOptions.Clean);
        (_plainSource, _plainTarget) = (PageMemory.Allocate(Most * sizeof(uint)), PageMemory.Allocate(Most * sizeof(uint)));
        Plain(_plainSource).Clear();
    }

    private protected override void OnCleanUp()
    {
        _source.Dispose();
        _target.Dispose();
        _group.Dispose();
        PageMemory.Free(_plainSource, Most * sizeof(uint));
        PageMemory.Free(_plainTarget, Most * sizeof(uint));
    }

    [BenchmarkCategory(Copied)]
    [Benchmark(Baseline = true, Description = "copy: one call")]
    public void Copy() => Plain(_plainSource).CopyTo(Plain(_plainTarget));

    [BenchmarkCategory(Copied)]
    [Benchmark(Description = "PixelBuffer.CopyTo")]
    public void CopyPixels() => _source.CopyTo(_target);

    [BenchmarkCategory(Copied)]
    [Benchmark(Description = "MemoryGroup.CopyTo")]
    public void CopyGroup() => _group.CopyTo(_array.AsSpan(0, Length));

    [BenchmarkCategory(Copied)]
    [Benchmark(Description = "MemoryGroup.CopyFrom")]
    public void CopyIntoGroup() => _group.CopyFrom(_array.AsSpan(0, Length));

    [BenchmarkCategory(Cleared)]
    [Benchmark(Baseline = true, Description = "clear: one call")]
    public void Clear() => Plain(_plainTarget).Clear();

    [BenchmarkCategory(Cleared)]
    [Benchmark(Description = "PixelBuffer.Clear")]
    public void ClearPixels() => _target.Clear();

    [BenchmarkCategory(Filled)]
    [Benchmark(Baseline = true, Description = "fill: one call")]
    public void Fill() => Plain(_plainTarget).Fill(7);

    [BenchmarkCategory(Filled)]
    [Benchmark(Description = "MemoryGroup.Fill")]
    public void FillGroup() => _group.Fill(7);

    private unsafe Span<uint> Plain(nint address) => new((void*)address, Length);
}

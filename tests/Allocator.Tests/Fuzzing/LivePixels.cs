namespace Allocator.Tests.Fuzzing;

/// <summary>A pixel buffer.</summary>
internal sealed class LivePixels : LiveBuffer
{
    private PixelBuffer<int>? _pixels;

    public LivePixels(int id, PixelBuffer<int> pixels)
        : base(id) => _pixels = pixels;

    public override void Abandon() => _pixels = null;

    protected override void DisposeOwner() => _pixels!.Dispose();

    protected override void ExpectAll(byte value) => _pixels!.ProcessPixelRows(
        static (rows, value) =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                ExpectAll(MemoryMarshal.AsBytes(rows.GetRowSpan(y)), value);
            }
        },
        value);

    protected override void FillAll(byte value) => _pixels!.ProcessPixelRows(
        static (rows, value) =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                MemoryMarshal.AsBytes(rows.GetRowSpan(y)).Fill(value);
            }
        },
        value);

    protected override void ExpectRefusal()
    {
        PixelBuffer<int> pixels = _pixels!;
        Assert.Throws<ObjectDisposedException>(() => pixels.ProcessPixelRows(static _ => { }));
    }
}

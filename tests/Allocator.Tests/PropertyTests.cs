using CsCheck;

namespace Allocator.Tests;

/// <summary>
/// Writers and pixel buffers beside plain models. CsCheck finds the shortest sequence that fails, and prints its seed.
/// </summary>
public class PropertyTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly Gen<int> s_bytes = Gen.OneOf(Gen.Int[0, 3], Gen.Int[0, 500], Gen.Int[0, 3 * Block]);

    [Fact]
    public void Writer_ComparedWithArrayBufferWriter_HasTheSameContent() =>
        Gen.Select(s_bytes, s_bytes, Gen.Byte).Array[1, 60].Sample(
            static steps =>
            {
                using TestSetup setup = new(maximumBlocks: 64);
                using PooledMemoryStream stream = setup.Allocator.CreateStream();
                ArrayBufferWriter<byte> model = new();
                foreach ((int hint, int count, byte value) in steps)
                {
                    Span<byte> span = value % 2 == 0 ? stream.GetSpan(hint) : stream.GetMemory(hint).Span;
                    Assert.True(span.Length >= Math.Max(1, hint), $"{span.Length} of {hint}");
                    int written = Math.Min(count, span.Length);
                    span.Slice(0, written).Fill(value);
                    stream.Advance(written);
                    model.GetSpan(written).Slice(0, written).Fill(value);
                    model.Advance(written);
                }

                Assert.Equal(model.WrittenCount, stream.Length);
                Assert.True(model.WrittenSpan.SequenceEqual(stream.AsReadOnlySequence().ToArray()));
            });

    [Fact]
    public void Pixels_ComparedWithAnArray_AreTheSame() =>
        Gen.Select(
            Gen.OneOf(Gen.Int[1, 20], Gen.Int[1, 6000]),
            Gen.Int[1, 40],
            Gen.Int[0, 7],
            Gen.Select(Gen.Int[0, 6], Gen.Int[0, 39], Gen.Int[1, 1 << 20]).Array[1, 30]).Sample(
            static (width, height, shape, steps) =>
            {
                using TestSetup setup = new(maximumBlocks: 64);
                AllocationOptions options =
                    AllocationOptions.Clean | ((shape & 1) == 0 ? AllocationOptions.None : AllocationOptions.Contiguous);
                PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(width, height, options, 1 << shape);
                int[] model = new int[width * height];
                foreach ((int operation, int row, int value) in steps)
                {
                    pixels = Change(pixels, model, operation, row % height, value);
                    int[] copy = new int[model.Length];
                    pixels.CopyTo(copy, width);
                    Assert.True(model.AsSpan().SequenceEqual(copy), $"{pixels}: operation {operation}");
                }

                pixels.Dispose();
                Assert.Equal((0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
            });

    private static PixelBuffer<int> Change(PixelBuffer<int> pixels, int[] model, int operation, int row, int value)
    {
        int width = pixels.Width;
        switch (operation)
        {
            case 0:
                pixels.Fill(value);
                model.AsSpan().Fill(value);
                break;
            case 1:
                pixels.Clear();
                Array.Clear(model);
                break;
            case 2:
                pixels.ProcessPixelRows(static (rows, at) => rows.GetRowSpan(at.Row).Fill(at.Value), (Row: row, Value: value));
                model.AsSpan(row * width, width).Fill(value);
                break;
            case 3:
                pixels.DangerousGetRowSpan(row)[^1] = value;
                model[((row + 1) * width) - 1] = value;
                break;
            case 4:
                pixels.ProcessPixelRowsInParallel(static rows =>
                {
                    for (int y = 0; y < rows.Height; y++)
                    {
                        rows.GetRowSpan(y)[0]++;
                    }
                });
                for (int y = 0; y < pixels.Height; y++)
                {
                    model[y * width]++;
                }

                break;
            case 5:
                for (int i = 0; i < model.Length; i++)
                {
                    model[i] = i ^ value;
                }

                int stride = width + (value % 5);
                int[] source = new int[((pixels.Height - 1) * stride) + width];
                for (int y = 0; y < pixels.Height; y++)
                {
                    model.AsSpan(y * width, width).CopyTo(source.AsSpan(y * stride));
                }

                pixels.CopyFrom(source, stride);
                break;
            default:
                PixelBuffer<int> clone = pixels.Clone();
                pixels.Dispose();
                return clone;
        }

        return pixels;
    }
}

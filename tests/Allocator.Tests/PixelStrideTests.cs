using CsCheck;

namespace Allocator.Tests;

/// <summary>Rows by bytes: strides of any length and sign, whatever the size of a pixel and wherever the memory is from.</summary>
public unsafe class PixelStrideTests
{
    [Theory]
    [InlineData(5, 16)]
    [InlineData(4, 12)]
    [InlineData(1, 4)]
    public void AllocatePixels_24BitRowsAlignedToFourBytes_HaveTheSmallestStride(int width, int stride)
    {
        using TestSetup setup = new();
        using PixelBuffer<Pixel3> pixels = setup.Allocator.AllocatePixels<Pixel3>(width, 3, rowAlignmentInBytes: 4);
        Assert.Equal(stride, pixels.RowStrideInBytes);
    }

    [Fact]
    public void RowStride_NoWholeNumberOfPixels_ThrowsNamingRowStrideInBytes()
    {
        using TestSetup setup = new();
        using PixelBuffer<Pixel3> pixels = setup.Allocator.AllocatePixels<Pixel3>(5, 3, rowAlignmentInBytes: 4);
        Assert.Contains(nameof(pixels.RowStrideInBytes), Assert.Throws<InvalidOperationException>(() => pixels.RowStride).Message);
        Assert.False(pixels.DangerousTryGetSingleMemory(out _));
        Assert.False(pixels.TryProcessSinglePixelSpan(static _ => { }));
    }

    // As GDI+ gives 24-bit pixels: padded, from the bottom up.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void WrapPixels_BottomUpRowsWithPadding_AreThePixelsFromTheTop(bool isNative)
    {
        using TestSetup setup = new();
        byte[] frame = [10, 11, 12, 13, 14, 15, 0xEE, 0xEE, 0, 1, 2, 3, 4, 5, 0xEE, 0xEE];
        fixed (byte* memory = frame)
        {
            using PixelBuffer<Pixel3> pixels = isNative
                ? setup.Allocator.WrapPixels<Pixel3>((nint)(memory + 8), 2, 2, -8)
                : setup.Allocator.WrapPixels<Pixel3>(frame.AsMemory(), 2, 2, -8);
            Assert.Equal((-8, true), (pixels.RowStrideInBytes, pixels.IsContiguous));
            Assert.Equal([0, 1, 2, 3, 4, 5], MemoryMarshal.AsBytes(pixels.DangerousGetRowSpan(0)).ToArray());
            Assert.Equal([10, 11, 12, 13, 14, 15], MemoryMarshal.AsBytes(pixels.DangerousGetRowSpan(1)).ToArray());

            using (MemoryHandle pin = pixels.Pin())
            {
                Assert.Equal((nint)(memory + 8), (nint)pin.Pointer);
            }

            pixels.Clear();
            Assert.Equal([0, 0, 0, 0, 0, 0, 0xEE, 0xEE, 0, 0, 0, 0, 0, 0, 0xEE, 0xEE], frame);
            using NativePixels handedOff = pixels.HandOff();
            Assert.Equal(((nint)(memory + 8), -8, 14L), (handedOff.Pointer, handedOff.RowBytes, handedOff.LengthInBytes));
        }
    }

    [Fact]
    public void RowStride_BottomUpWholePixels_IsNegative()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.WrapPixels<int>(new byte[3 * 8], 2, 3, -8);
        Assert.Equal((-2, -8), (pixels.RowStride, pixels.RowStrideInBytes));
        Assert.False(pixels.DangerousTryGetSingleMemory(out _));
        Assert.False(pixels.TryProcessSinglePixelSpan(static _ => { }));
    }

    [Fact]
    public void Rows_AnyStrideSignPixelAndMemory_MatchTheModel() =>
        Shapes.Sample(static shape =>
        {
            switch (shape.PixelSize)
            {
                case 1: Compare<byte>(shape); break;
                case 2: Compare<ushort>(shape); break;
                case 3: Compare<Pixel3>(shape); break;
                case 4: Compare<uint>(shape); break;
                case 5: Compare<Pixel5>(shape); break;
                case 6: Compare<Pixel6>(shape); break;
                case 7: Compare<Pixel7>(shape); break;
                case 8: Compare<ulong>(shape); break;
                case 9: Compare<Pixel9>(shape); break;
                case 10: Compare<Pixel10>(shape); break;
                case 11: Compare<Pixel11>(shape); break;
                case 12: Compare<Pixel12>(shape); break;
                case 13: Compare<Pixel13>(shape); break;
                case 14: Compare<Pixel14>(shape); break;
                case 15: Compare<Pixel15>(shape); break;
                default: Compare<Pixel16>(shape); break;
            }
        });

    private static Gen<Shape> Shapes { get; } = Gen.Select(
        Gen.Int[1, 16], Gen.OneOf(Gen.Int[1, 20], Gen.Int[1, 1500]), Gen.Int[1, 40], Gen.Int[0, 3], Gen.Int[0, 9], Gen.Bool, Gen.Bool,
        static (pixel, width, height, memory, padding, isBottomUp, isGuarded) =>
            new Shape(pixel, width, height, (Memories)memory, padding, isBottomUp, isGuarded));

    private static void Compare<TPixel>(Shape shape)
        where TPixel : unmanaged
    {
        Assert.Equal(shape.PixelSize, sizeof(TPixel));
        using TestSetup setup = new(
            maximumBlocks: 64, new MemoryAllocatorOptions { Safety = shape.IsGuarded ? SafetyMode.Guarded : SafetyMode.Standard });
        int row = shape.Width * sizeof(TPixel);
        int stride = (row + shape.Padding) * (shape.IsBottomUp ? -1 : 1);
        using IMemoryOwner<byte> native = setup.Allocator.AllocateAligned<byte>(Math.Abs(stride) * shape.Height, 64);
        using MemoryHandle pin = native.Memory.Pin();
        using PixelBuffer<TPixel> pixels = shape.Memory switch
        {
            Memories.Wrapped => setup.Allocator.WrapPixels<TPixel>(native.Memory, shape.Width, shape.Height, stride),
            Memories.Native => setup.Allocator.WrapPixels<TPixel>(
                (nint)pin.Pointer + (stride < 0 ? (shape.Height - 1) * -stride : 0), shape.Width, shape.Height, stride),
            Memories.Group => setup.Allocator.AllocatePixels<TPixel>(
                shape.Width, shape.Height, rowAlignmentInBytes: 1 << shape.Padding),
            _ => setup.Allocator.AllocatePixels<TPixel>(
                shape.Width, shape.Height, AllocationOptions.Contiguous, 1 << shape.Padding),
        };

        byte[] model = new byte[row * shape.Height];
        new Random(row).NextBytes(model);
        pixels.CopyFrom(MemoryMarshal.Cast<byte, TPixel>(model), shape.Width);
        TPixel[] copy = new TPixel[shape.Width * shape.Height];
        pixels.CopyTo(copy, shape.Width);
        Assert.True(MemoryMarshal.AsBytes(copy.AsSpan()).SequenceEqual(model), $"{shape}");
        pixels.ProcessPixelRows(
            static (rows, model) =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    Span<byte> bytes = MemoryMarshal.AsBytes(rows.GetRowSpan(y));
                    Assert.True(bytes.SequenceEqual(model.AsSpan(y * bytes.Length, bytes.Length)));
                }
            },
            model);
        using PixelBuffer<TPixel> clone = pixels.Clone();
        TPixel[] filled = new TPixel[copy.Length];
        filled.AsSpan().Fill(copy[0]);
        pixels.Fill(copy[0]);
        pixels.CopyTo(copy, shape.Width);
        Assert.True(MemoryMarshal.AsBytes(copy.AsSpan()).SequenceEqual(MemoryMarshal.AsBytes(filled.AsSpan())), $"{shape}: filled");
        pixels.Clear();
        pixels.CopyTo(copy, shape.Width);
        Assert.Equal(-1, MemoryMarshal.AsBytes(copy.AsSpan()).IndexOfAnyExcept((byte)0));
        for (int y = 0; y < shape.Height; y++)
        {
            Assert.True(MemoryMarshal.AsBytes(clone.DangerousGetRowSpan(y)).SequenceEqual(model.AsSpan(y * row, row)), $"{shape}: {y}");
        }
    }

    private enum Memories
    {
        Array,
        Group,
        Wrapped,
        Native,
    }

    private readonly record struct Shape(
        int PixelSize, int Width, int Height, Memories Memory, int Padding, bool IsBottomUp, bool IsGuarded);
}

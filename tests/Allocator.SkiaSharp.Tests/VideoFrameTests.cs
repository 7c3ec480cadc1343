using System.Buffers;
using System.Buffers.Binary;
using Allocator.Tests.Fakes;

namespace Allocator.SkiaSharp.Tests;

/// <summary>
/// A frame of video becomes a bitmap as GDI+ has it, whose parts four threads process, and a BMP that Skia reads back; and Skia's own rows
/// are wrapped by their bytes.
/// </summary>
public class VideoFrameTests
{
    // 3840 x 3 bytes need no padding; 3838 x 3 need two bytes.
    [Theory]
    [InlineData(3840, 2160, 0)]
    [InlineData(3838, 2160, 1)]
    [InlineData(3839, 2159, 2)]
    public async Task Nv12Frame_ToBottomUpBgrAndBmp_IsReadBackPixelForPixel(int width, int height, int seed)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PlanarBuffer frame = allocator.AllocatePlanar(PlanarFormat.Nv12, width, height);
        Draw(frame);

        int stride = (width * 3 + 3) / 4 * 4;
        IMemoryOwner<byte> memory = allocator.Allocate<byte>(stride * height, AllocationOptions.Clean);
        MemoryHandle pin = memory.Memory.Pin();
        PixelBuffer<Bgr> image = Wrap(allocator, pin, width, height, stride, () =>
        {
            pin.Dispose();
            memory.Dispose();
        });
        image.ProcessPixelRows(frame.GetPlane<byte>(0), frame.GetPlane<Chroma>(1), static (rows, luma, chroma) =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<Bgr> row = rows.GetRowSpan(y);
                Span<byte> light = luma.GetRowSpan(y);
                Span<Chroma> color = chroma.GetRowSpan(y / 2);
                for (int x = 0; x < row.Length; x++)
                {
                    row[x] = Bgr.From(light[x], color[x / 2]);
                }
            }
        });

        // The parts outlive the whole; the last of them, or the view of the bytes, returns the memory.
        PixelBuffer<byte> bytes = image.AsBytes();
        PixelBuffer<Bgr>[] tiles =
        [
            .. Enumerable.Range(0, 4).Select(i => image.Crop(
                i % 2 * (width / 2), i / 2 * (height / 2), width / 2 + i % 2 * (width % 2), height / 2 + i / 2 * (height % 2))),
        ];
        image.Dispose();
        Assert.Throws<ObjectDisposedException>(image.Clear);
        new Random(seed).Shuffle(tiles);
        TestThreads.Run(tiles.Length, i => Invert(tiles[i]));
        Assert.All(tiles, static tile => Assert.Throws<ObjectDisposedException>(tile.Clear));
        Assert.Equal(2, allocator.GetStatistics().OutstandingAllocations);

        using MemoryStream bmp = new();
        await WriteBmpAsync(bmp, bytes, width, stride);
        bmp.Position = 0;
        using SKBitmap decoded = SKBitmap.Decode(bmp);
        Assert.Equal((width, height), (decoded.Width, decoded.Height));
        using PixelBuffer<uint> read = allocator.WrapPixels<uint>(decoded.GetPixels(), decoded.Width, decoded.Height, decoded.RowBytes);
        read.ProcessPixelRows(bytes, static (rows, written, frame) =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<uint> seen = rows.GetRowSpan(y);
                Span<byte> row = written.GetRowSpan(y);
                Span<byte> light = frame.GetPlane<byte>(0).DangerousGetRowSpan(y);
                Span<Chroma> color = frame.GetPlane<Chroma>(1).DangerousGetRowSpan(y / 2);
                for (int x = 0; x < seen.Length; x++)
                {
                    Bgr pixel = Bgr.From(light[x], color[x / 2]).Inverted;
                    uint expected = 0xFF000000 | (uint)(pixel.R << 16 | pixel.G << 8 | pixel.B);
                    if (seen[x] != expected || row[3 * x] != pixel.B)
                    {
                        Assert.Fail($"({x}, {y}) is {seen[x]:x}, and was {expected:x}.");
                    }
                }
            }
        }, frame);

        bytes.Dispose();
        Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
    }

    // Rows of Skia's that are longer than their pixels.
    [Fact]
    public void WrapPixels_SkiaBitmapWithLongRows_AreItsPixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        SKImageInfo info = new(7, 5, SKColorType.Rgb565, SKAlphaType.Opaque);
        using PixelBuffer<byte> memory = allocator.AllocatePixels<byte>(24, 5, AllocationOptions.Clean | AllocationOptions.Contiguous);
        using MemoryHandle pin = memory.Pin();
        using SKBitmap bitmap = new();
        Assert.True(bitmap.InstallPixels(info, Address(pin), 24));
        using PixelBuffer<ushort> pixels = allocator.WrapPixels<ushort>(
            bitmap.GetPixels(), bitmap.Width, bitmap.Height, bitmap.RowBytes);
        pixels.DangerousGetRowSpan(4)[6] = 0xF800;
        Assert.Equal((24, new SKColor(255, 0, 0)), (pixels.RowStrideInBytes, bitmap.GetPixel(6, 4)));
        using SKImage image = SKImage.FromPixels(info, Address(pin), 24);
        using SKImage part = image.Subset(new SKRectI(6, 4, 7, 5));
        using SKBitmap copy = SKBitmap.FromImage(part);
        Assert.Equal(new SKColor(255, 0, 0), copy.GetPixel(0, 0));
    }

    [Fact]
    public void AsBitmap_OfACrop_IsThatPartAndKeepsTheMemory()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PixelBuffer<uint> whole = allocator.AllocatePixels<uint>(30, 20, AllocationOptions.Clean | AllocationOptions.Contiguous);
        whole.DangerousGetRowSpan(7)[11] = 0xFF0000FF;
        PixelBuffer<uint> crop = whole.Crop(10, 5, 3, 4);
        whole.Dispose();
        using (SKBitmap bitmap = crop.AsBitmap())
        {
            crop.Dispose();
            Assert.Equal((3, 4, 120), (bitmap.Width, bitmap.Height, bitmap.RowBytes));
            Assert.Equal(new SKColor(255, 0, 0), bitmap.GetPixel(1, 2));
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Theory]
    [InlineData(-16)]
    [InlineData(18)]
    public void AsBitmap_RowsThatSkiaDoesNotHave_AreRefused(int stride)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PixelBuffer<uint> pixels = allocator.WrapPixels<uint>(new byte[100], 4, 4, stride);
        Assert.Contains($"{stride} bytes", Assert.Throws<NotSupportedException>(pixels.AsBitmap).Message);
        using PixelBuffer<uint> clone = pixels.Clone();
        clone.AsBitmap().Dispose();
    }

    private static unsafe nint Address(MemoryHandle pin) => (nint)pin.Pointer;

    // As Bitmap.LockBits gives it: Scan0 is the first row, and the stride negative.
    private static unsafe PixelBuffer<Bgr> Wrap(
        MemoryAllocator allocator, MemoryHandle pin, int width, int height, int stride, Action release)
    {
        nint scan0 = (nint)pin.Pointer + (nint)(height - 1) * stride;
        return allocator.WrapPixels<Bgr>(scan0, width, height, -stride, release);
    }

    private static void Draw(PlanarBuffer frame)
    {
        frame.GetPlane<byte>(0).ProcessPixelRowsInParallel(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<byte> row = rows.GetRowSpan(y);
                for (int x = 0; x < row.Length; x++)
                {
                    row[x] = (byte)(x + (rows.FirstRow + y) * 3);
                }
            }
        });
        frame.GetPlane<Chroma>(1).ProcessPixelRowsInParallel(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<Chroma> row = rows.GetRowSpan(y);
                for (int x = 0; x < row.Length; x++)
                {
                    row[x] = new Chroma((byte)(x >> 3), (byte)(rows.FirstRow + y));
                }
            }
        });
    }

    private static void Invert(PixelBuffer<Bgr> tile)
    {
        using (tile)
        {
            tile.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    foreach (ref Bgr pixel in rows.GetRowSpan(y))
                    {
                        pixel = pixel.Inverted;
                    }
                }
            });
        }
    }

    private static async Task WriteBmpAsync(Stream bmp, PixelBuffer<byte> rows, int width, int stride)
    {
        byte[] header = new byte[54];
        "BM"u8.CopyTo(header);
        int[] fields = [54 + stride * rows.Height, 0, 54, 40, width, rows.Height, 1 | 24 << 16, 0, stride * rows.Height];
        for (int i = 0; i < fields.Length; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(header.AsSpan(2 + 4 * i), fields[i]);
        }

        await bmp.WriteAsync(header);
        for (int y = rows.Height - 1; y >= 0; y--)
        {
            await bmp.WriteAsync(rows.DangerousGetRowMemory(y));
            await bmp.WriteAsync(new byte[stride - rows.Width]);
        }
    }

    private readonly record struct Chroma(byte U, byte V);

    private readonly record struct Bgr(byte B, byte G, byte R)
    {
        public Bgr Inverted => new((byte)~B, (byte)~G, (byte)~R);

        public static Bgr From(int y, Chroma c) => new(
            Limit(y + 1.772 * (c.U - 128)), Limit(y - 0.344 * (c.U - 128) - 0.714 * (c.V - 128)), Limit(y + 1.402 * (c.V - 128)));

        private static byte Limit(double value) => (byte)Math.Clamp(value, 0, 255);
    }
}

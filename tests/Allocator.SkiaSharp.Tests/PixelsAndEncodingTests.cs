using System.Buffers;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Allocator.SkiaSharp.Tests;

/// <summary>Resizing, surfaces, shared pixel buffers and encoding.</summary>
public class PixelsAndEncodingTests
{
    [Theory]
    [InlineData(SKMipmapMode.None)]
    [InlineData(SKMipmapMode.Linear)]
    public void ResizeBitmap_OfABitmap_MatchesSkia(SKMipmapMode mipmaps)
    {
        SKSamplingOptions sampling = new(SKFilterMode.Linear, mipmaps);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using SKBitmap source = Picture.Draw(800, 600, SKAlphaType.Premul);
        using SKBitmap expected = source.Resize(new SKSizeI(131, 97), sampling);
        using (PooledBitmap actual = allocator.ResizeBitmap(source, new SKSizeI(131, 97), sampling))
        {
            DecodeBitmapTests.AssertSame(expected, actual);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void ResizeBitmap_OfABitmapWithoutPixels_ThrowsAndLeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using SKBitmap empty = new();

        Assert.ThrowsAny<Exception>(() => allocator.ResizeBitmap(empty, new SKSizeI(10, 10), SKSamplingOptions.Default).Dispose());
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void CreateSurface_Drawn_HasTheDrawingAndIsReturned()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using (SKSurface surface = allocator.CreateSurface(new SKImageInfo(900, 800)))
        {
            using SKPixmap pixels = surface.PeekPixels();
            Assert.Equal(default, pixels.GetPixelColor(899, 799));
            surface.Canvas.Clear(SKColors.Coral);
            Assert.Equal(SKColors.Coral, pixels.GetPixelColor(899, 799));
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void AsBitmap_OfAPixelBuffer_SharesItsPixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(1100, 300, AllocationOptions.Contiguous | AllocationOptions.Clean, 64);
        using (SKBitmap bitmap = pixels.AsBitmap())
        {
            bitmap.Erase(SKColors.Red);
            Assert.Equal(0xFF0000FFu, pixels.DangerousGetRowSpan(299)[1099]);
            pixels.ProcessPixelRows(rows => rows.GetRowSpan(298)[1098] = 0xFFFF0000u);
            Assert.Equal(SKColors.Blue, bitmap.GetPixel(1098, 298));

            // Pinned: its memory is the bitmap's until that is disposed.
            pixels.Dispose();
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
            Assert.Equal(SKColors.Blue, bitmap.GetPixel(1098, 298));
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void AsBitmap_OfEachPixel_HasItsColorType()
    {
        AssertColorType<byte>(SKColorType.Gray8);
        AssertColorType<ushort>(SKColorType.Rgb565);
        AssertColorType<SKColor>(SKColorType.Bgra8888);
        AssertColorType<uint>(SKColorType.Rgba8888);
        AssertColorType<ulong>(SKColorType.Rgba16161616);
        AssertColorType<Vector128<float>>(SKColorType.RgbaF32);
        Assert.Throws<NotSupportedException>(() => AssertColorType<System.Numerics.Vector3>(SKColorType.Unknown));
    }

    [Fact]
    public void AsBitmap_OfPixelsInPieces_Throws()
    {
        // More than the longest run.
        using PixelBuffer<uint> pixels = MemoryAllocator.Default.AllocatePixels<uint>(10_000, 10_000);
        Assert.False(pixels.IsContiguous);

        Assert.Throws<InvalidOperationException>(() => pixels.AsBitmap().Dispose());
    }

    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    [InlineData(SKEncodedImageFormat.Webp)]
    public void Encode_IntoAPooledStream_MatchesSkia(SKEncodedImageFormat format)
    {
        using SKBitmap bitmap = Picture.Draw(500, 300, SKAlphaType.Opaque);
        using SKData? expected = bitmap.Encode(format, 80);
        using PooledMemoryStream stream = MemoryAllocator.Default.CreateStream();

        SkiaSharpMemory.Encode(bitmap, stream, format, 80);

        Assert.Equal(expected?.ToArray(), stream.ToArray());
    }

    [Theory]
    [InlineData(SKEncodedImageFormat.Gif)]
    [InlineData(SKEncodedImageFormat.Bmp)]
    public void Encode_ToAnUnsupportedFormat_IsNotSupported(SKEncodedImageFormat format)
    {
        using SKBitmap bitmap = Picture.Draw(5, 3, SKAlphaType.Opaque);
        using MemoryStream stream = new();

        Assert.Contains(
            format.ToString(),
            Assert.Throws<NotSupportedException>(() => SkiaSharpMemory.Encode(bitmap, stream, format, 80)).Message,
            StringComparison.Ordinal);
        using SKBitmap empty = new();
        Assert.Throws<NotSupportedException>(() => SkiaSharpMemory.Encode(empty, stream, SKEncodedImageFormat.Png, 80));
    }

    /// <summary>Each page behind a buffer faults, and what is written beside it is found: Skia does neither.</summary>
    [Fact]
    public void DecodeResizeAndEncode_InGuardedMode_StayWithinTheirBuffers() =>
        RemoteExecutor.Invoke(static () =>
        {
            const int Planted = 12_345;
            ConcurrentQueue<long> found = new();
            Diagnostics.MemoryDiagnostics.CorruptionFound += (_, corruption) => found.Enqueue(corruption.Bytes);
            int uses = 0;
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { Safety = SafetyMode.Guarded, OverreadToleranceInBytes = 0 });
            foreach (string name in Picture.Names)
            {
                foreach (SKColorType colorType in (SKColorType[])
                    [SKColorType.Bgra8888, SKColorType.Rgb565, SKColorType.RgbaF16, SKColorType.Gray8])
                {
                    try
                    {
                        UseAll(allocator, Picture.Read(name), new SKBitmapDecodeOptions { ColorType = colorType });
                        uses++;
                        UseAll(allocator, Picture.Read(name), new() { ColorType = colorType, LargestSize = new SKSizeI(333, 777) });
                        uses++;
                    }
                    catch (NotSupportedException)
                    {
                        // Not every codec converts to every colour type.
                    }
                }
            }

            // Each codec converts to the first colour type.
            Assert.InRange(uses, 2 * Picture.Names.Count(), int.MaxValue);

            // Notices come in order, on another thread. So one more corruption is found, and its notice is the first.
            IMemoryOwner<byte> planted = allocator.Allocate<byte>(Planted);
            Unsafe.Add(ref MemoryMarshal.GetReference(planted.Memory.Span), -1) ^= 0xFF;
            Assert.Throws<MemoryCorruptedException>(planted.Dispose);
            Assert.True(SpinWait.SpinUntil(() => found.Contains(Planted), TimeSpan.FromSeconds(30)));
            Assert.Equal(Planted, Assert.Single(found));
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        }).Dispose();

    private static void UseAll(MemoryAllocator allocator, byte[] file, SKBitmapDecodeOptions options)
    {
        using PooledBitmap bitmap = allocator.DecodeBitmap(new MemoryStream(file), options);
        foreach (SKMipmapMode mipmaps in Enum.GetValues<SKMipmapMode>())
        {
            using PooledBitmap small = allocator.ResizeBitmap(
                bitmap, new SKSizeI(101, 53), new SKSamplingOptions(SKFilterMode.Linear, mipmaps));
            foreach (SKEncodedImageFormat format in (SKEncodedImageFormat[])
                [SKEncodedImageFormat.Jpeg, SKEncodedImageFormat.Png, SKEncodedImageFormat.Webp])
            {
                SkiaSharpMemory.Encode(small, Stream.Null, format, 80);
            }
        }

        using PooledBitmap cubic = allocator.ResizeBitmap(bitmap, new SKSizeI(127, 53), new SKSamplingOptions(SKCubicResampler.Mitchell));
        using SKSurface surface = allocator.CreateSurface(cubic.Info.WithColorType(SKColorType.Bgra8888));
        surface.Canvas.DrawColor(SKColors.Olive);
    }

    private static void AssertColorType<TPixel>(SKColorType expected)
        where TPixel : unmanaged
    {
        using PixelBuffer<TPixel> pixels = MemoryAllocator.Default.AllocatePixels<TPixel>(3, 2);
        using SKBitmap bitmap = pixels.AsBitmap();
        Assert.Equal(expected, bitmap.ColorType);
    }
}

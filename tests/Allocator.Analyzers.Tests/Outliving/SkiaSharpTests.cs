namespace Allocator.Analyzers.Tests.Outliving;

/// <summary>The package Allocator.SkiaSharp, of the real assemblies: bitmaps are owned buffers, and pixmaps are views of them.</summary>
public sealed class SkiaSharpTests
{
    private static readonly ImmutableArray<MetadataReference> s_references = SnippetReferences.WithAllocator
        .Add(MetadataReference.CreateFromFile(typeof(SkiaSharpMemory).Assembly.Location))
        .Add(MetadataReference.CreateFromFile(typeof(SkiaSharp.SKBitmap).Assembly.Location));

    [Theory]
    [InlineData("allocator.AllocateBitmap(info)")]
    [InlineData("allocator.DecodeBitmap(stream)")]
    [InlineData("await allocator.DecodeBitmapAsync(stream)")]
    [InlineData("allocator.ResizeBitmap(other, info.Size, default)")]
    [InlineData("allocator.CreateSurface(info)")]
    [InlineData("pixels.AsBitmap()")]
    public Task Factory_NeverDisposed_Reported(string factory) => Verify($$"""
        public static async Task<int> Run(
            MemoryAllocator allocator, SKImageInfo info, Stream stream, SKBitmap other, PixelBuffer<uint> pixels)
        {
            await Task.Yield();
            var made = {|ALLOC004:{{factory}}|};
            return made.Handle.GetHashCode();
        }
        """);

    [Fact]
    public Task Bitmap_Disposed_Silent() => Verify("""
        public static async Task Run(MemoryAllocator allocator, Stream source, Stream destination)
        {
            using PooledBitmap picture = await allocator.DecodeBitmapAsync(source);
            using PooledBitmap small = picture.Allocator.ResizeBitmap(picture, new SKSizeI(3, 2), SKSamplingOptions.Default);
            small.Encode(destination, SKEncodedImageFormat.Jpeg, 80);
        }

        [return: OwnedBuffer]
        public static PooledBitmap Make(MemoryAllocator allocator, SKImageInfo info) => allocator.AllocateBitmap(info);
        """);

    [Fact]
    public Task Bitmap_UsedAfterDispose_Reported() => Verify("""
        public static SKColor Run(MemoryAllocator allocator, SKImageInfo info)
        {
            PooledBitmap bitmap = allocator.AllocateBitmap(info);
            bitmap.Dispose();
            return {|ALLOC002:bitmap.GetPixel(0, 0)|};
        }
        """);

    [Fact]
    public Task Pixmap_OfUsingReturned_Reported() => Verify("""
        public static SKPixmap Run(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            return {|ALLOC003:bitmap.PeekPixels()|};
        }
        """);

    [Fact]
    public Task Surface_DrawnOnAndDropped_Reported() => Verify("""
        public static void Run(MemoryAllocator allocator, SKImageInfo info)
        {
            SKSurface surface = {|ALLOC004:allocator.CreateSurface(info)|};
            surface.Canvas.Clear(SKColors.Red);
        }

        public static SKImage Snapshot(MemoryAllocator allocator, SKImageInfo info)
        {
            using SKSurface surface = allocator.CreateSurface(info);
            surface.Canvas.Clear(SKColors.Red);
            return surface.Snapshot();
        }
        """);

    [Fact]
    public Task Span_OfUsingReturned_Reported() => Verify("""
        public static System.Span<byte> Run(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            return {|ALLOC003:bitmap.GetPixelSpan()|};
        }
        """);

    [Fact]
    public Task Pixmap_UsedAfterTheBitmapsDispose_Reported() => Verify("""
        public static SKColor Run(MemoryAllocator allocator, SKImageInfo info)
        {
            PooledBitmap bitmap = allocator.AllocateBitmap(info);
            SKPixmap pixels = bitmap.PeekPixels();
            bitmap.Dispose();
            return {|ALLOC002:pixels.GetPixelColor(0, 0)|};
        }
        """);

    [Fact]
    public Task Image_OverAPixmapOfUsingReturned_Reported() => Verify("""
        public static SKImage Run(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            using SKPixmap pixels = bitmap.PeekPixels();
            return {|ALLOC003:SKImage.FromPixels(pixels)|};
        }

        public static SKImage FromAVariable(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            SKImage image = SKImage.FromPixels(bitmap.PeekPixels());
            return {|ALLOC003:image|};
        }
        """);

    [Fact]
    public Task Image_OverAPixmapThatStaysOrIsCopied_Silent() => Verify("""
        public static SKData Encoded(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            using SKPixmap pixels = bitmap.PeekPixels();
            using SKImage image = SKImage.FromPixels(pixels);
            return image.Encode();
        }

        public static SKImage Copied(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            return SKImage.FromPixelCopy(bitmap.PeekPixels());
        }
        """);

    [Fact]
    public Task Image_OfABitmap_Silent() => Verify("""
        public static SKImage Run(MemoryAllocator allocator, SKImageInfo info)
        {
            using PooledBitmap bitmap = allocator.AllocateBitmap(info);
            bitmap.SetImmutable();
            return SKImage.FromBitmap(bitmap);
        }
        """);

    private static Task Verify(string members) => AnalyzerVerifier.Verify<LifetimeAnalyzer>(
        $$"""
        using System.IO;
        using System.Threading.Tasks;
        using Allocator;
        using SkiaSharp;

        public static class Pictures
        {
        {{members}}
        }
        """,
        s_references);
}

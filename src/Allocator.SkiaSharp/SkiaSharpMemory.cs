using Allocator.Skia;

namespace Allocator;

/// <summary>
/// Puts the pixels of SkiaSharp's bitmaps and surfaces into pooled memory, and decodes pictures into it.
/// </summary>
/// <remarks>
/// The methods extend <see cref="MemoryAllocator"/>: the default one, one with a budget, a <see cref="MemoryReservation"/>, or that of a
/// web request. Thread-safe. Skia runs none of the caller's code, and no allocation that can be refused happens while Skia runs, except in
/// the stream that it encodes to.
/// </remarks>
public static class SkiaSharpMemory
{
    /// <summary>Allocates a bitmap.</summary>
    /// <param name="allocator">The allocator of the pixels.</param>
    /// <param name="info">The size, colour type, alpha type and colour space. Rows have no gaps.</param>
    /// <param name="options">Without <see cref="AllocationOptions.Clean"/> the contents of the pixels are unspecified.</param>
    /// <returns>The bitmap, which the caller disposes.</returns>
    /// <exception cref="ArgumentException">The size is empty, or the colour type has no pixels.</exception>
    /// <exception cref="MemoryLimitExceededException">The pixels exceed a limit, or the memory budget had no room in time.</exception>
    /// <exception cref="OutOfMemoryException">The operating system has no memory.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    [return: OwnedBuffer]
    public static PooledBitmap AllocateBitmap(
        this MemoryAllocator allocator, SKImageInfo info, AllocationOptions options = AllocationOptions.None)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        return PooledBitmap.Create(allocator, info, PixelMemory.Allocate(allocator, info, options), null);
    }

    /// <summary>
    /// Decodes a picture into pooled memory: the pixels and the colour space of <see cref="SKBitmap.Decode(Stream)"/>, with the
    /// orientation applied.
    /// </summary>
    /// <param name="allocator">The allocator of the file and the pixels; it also counts the codec's own memory.</param>
    /// <param name="source">The file. It is read from its position to its end, into pooled memory, before it is decoded.</param>
    /// <param name="options">The options of the bitmap, or <see langword="null"/> for the defaults.</param>
    /// <returns>The bitmap, which the caller disposes.</returns>
    /// <remarks>
    /// Under a budget it waits for each part in turn while it holds the earlier parts. To decode many pictures at once, use
    /// <see cref="DecodeBitmapAsync"/>. A JPEG or GIF without its end marker is complete if all of its rows and scans are there.
    /// </remarks>
    /// <exception cref="ArgumentException">
    /// The stream is seekable and at its end, because it was written and not rewound. Set its position to 0.
    /// </exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// The file has fewer frames than <see cref="SKBitmapDecodeOptions.FrameIndex"/> asks for.
    /// </exception>
    /// <exception cref="InvalidDataException">
    /// Skia cannot decode the file, or it is damaged, empty or cut off. The message names the codec's result.
    /// </exception>
    /// <exception cref="NotSupportedException">
    /// The codec does not decode to the <see cref="SKBitmapDecodeOptions.ColorType"/> and <see cref="SKBitmapDecodeOptions.AlphaType"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The <see cref="SKBitmapDecodeOptions.ColorSpace"/> is disposed.</exception>
    /// <exception cref="IOException">The stream cannot be read.</exception>
    /// <inheritdoc cref="AllocateBitmap" path="/exception[contains(@cref, 'Memory')]"/>
    [return: OwnedBuffer]
    public static PooledBitmap DecodeBitmap(this MemoryAllocator allocator, Stream source, SKBitmapDecodeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        ArgumentNullException.ThrowIfNull(source);

        // It completes synchronously, because everything it awaits is complete.
        return BitmapDecoder.DecodeAsync(allocator, source, options, isAsync: false, CancellationToken.None).GetAwaiter().GetResult();
    }

    /// <summary>
    /// Reserves everything that decoding takes (the file, the pixels, the codec's own memory and
    /// <see cref="SKBitmapDecodeOptions.WorkingBytes"/>), then decodes the picture into pooled memory. While it waits, asynchronously, it
    /// holds only the beginning of the file.
    /// </summary>
    /// <param name="allocator">
    /// The allocator to reserve from. From a <see cref="MemoryReservation"/> nothing more is reserved.
    /// </param>
    /// <param name="source">The file. It is read asynchronously, from its position to its end.</param>
    /// <param name="options">The options of the bitmap, or <see langword="null"/> for the defaults.</param>
    /// <param name="cancellationToken">Ends the reading and the waiting, not the decoding.</param>
    /// <returns>
    /// The bitmap, which the caller disposes. That ends the reservation, its <see cref="PooledBitmap.Allocator"/>. Await it once.
    /// </returns>
    /// <remarks>The decoding itself runs on the thread that finished reading the file.</remarks>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="DecodeBitmap" path="/exception"/>
    [return: OwnedBuffer]
    public static ValueTask<PooledBitmap> DecodeBitmapAsync(
        this MemoryAllocator allocator,
        Stream source,
        SKBitmapDecodeOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        ArgumentNullException.ThrowIfNull(source);
        return BitmapDecoder.DecodeAsync(allocator, source, options, isAsync: true, cancellationToken);
    }

    /// <summary>Makes a bitmap of another size, of the same colour type, alpha type and colour space, in pooled memory.</summary>
    /// <param name="allocator">The allocator of the pixels: <see cref="PooledBitmap.Allocator"/> of the source, as a rule.</param>
    /// <param name="source">The bitmap, which is not changed.</param>
    /// <param name="size">The width and height of the result in pixels, each at least 1.</param>
    /// <param name="sampling">The filter. Mipmaps take another third of the source's bytes while it runs, which is counted.</param>
    /// <returns>The bitmap, which the caller disposes.</returns>
    /// <exception cref="NotSupportedException">Skia does not scale such pixels, or the source has none.</exception>
    /// <exception cref="ObjectDisposedException">The source is disposed.</exception>
    /// <inheritdoc cref="AllocateBitmap" path="/exception"/>
    [return: OwnedBuffer]
    public static PooledBitmap ResizeBitmap(
        this MemoryAllocator allocator, [Borrowed] SKBitmap source, SKSizeI size, SKSamplingOptions sampling)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        ArgumentNullException.ThrowIfNull(source);
        ThrowIfDisposed(source);
        PooledBitmap target = allocator.AllocateBitmap(source.Info.WithSize(size));
        try
        {
            using IDisposable? mipmaps =
                sampling.Mipmap == SKMipmapMode.None ? null : allocator.TrackExternalMemory(Scaling.MipmapBytes(source.Info));
            return source.ScalePixels(target, sampling)
                ? target
                : throw new NotSupportedException($"Skia does not scale pixels of {source.ColorType}.");
        }
        catch
        {
            target.Dispose();
            throw;
        }
    }

    /// <summary>Makes a surface to draw on, transparent or black at first, in pooled memory.</summary>
    /// <param name="allocator">The allocator of the pixels.</param>
    /// <param name="info">The size, colour type, alpha type and colour space.</param>
    /// <returns>The surface, which the caller disposes. That returns the pixels.</returns>
    /// <remarks>
    /// An image of the surface (<c>Snapshot</c>) is a copy, in memory that Skia takes from malloc and nothing counts. To encode the
    /// drawing, use <c>PeekPixels</c>, or draw on a canvas over a bitmap of <see cref="AllocateBitmap"/>.
    /// </remarks>
    /// <inheritdoc cref="AllocateBitmap" path="/exception"/>
    [return: OwnedBuffer]
    public static SKSurface CreateSurface(this MemoryAllocator allocator, SKImageInfo info)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        PixelMemory pixels = PixelMemory.Allocate(allocator, info, AllocationOptions.Clean);
        SKSurface? surface = null;
        try
        {
            surface = SKSurface.Create(info, pixels.Address, pixels.RowBytes, PixelMemory.SurfaceRelease, pixels);
        }
        finally
        {
            if (surface is null)
            {
                // A second release does nothing.
                pixels.Release();
            }
        }

        return surface ?? throw new ArgumentException(
            Invariant($"Skia has no surface of {info.Width} × {info.Height} pixels of {info.ColorType}."), nameof(info));
    }

    /// <summary>Encodes a bitmap straight into a stream: Skia holds no encoded copy of it meanwhile.</summary>
    /// <param name="bitmap">The bitmap.</param>
    /// <param name="destination">The stream for the file. It is neither flushed nor disposed.</param>
    /// <param name="format">The format: Skia encodes JPEG, PNG and WebP.</param>
    /// <param name="quality">The quality, from 0 to 100.</param>
    /// <exception cref="NotSupportedException">Skia does not encode this format, or such pixels.</exception>
    /// <exception cref="ObjectDisposedException">The bitmap is disposed.</exception>
    /// <remarks>
    /// The bitmap's colour space becomes the profile of the file. If the destination throws, the encoding ends and the exception is thrown
    /// here.
    /// </remarks>
    public static void Encode([Borrowed] this SKBitmap bitmap, Stream destination, SKEncodedImageFormat format, int quality)
    {
        ArgumentNullException.ThrowIfNull(bitmap);
        ArgumentNullException.ThrowIfNull(destination);
        ThrowIfDisposed(bitmap);

        // It shares the pixels, so they stay valid if the destination or another thread disposes the bitmap meanwhile.
        SKImageInfo info = bitmap.Info;
        using SKBitmap kept = new();
        using SKPixmap? pixels = bitmap.ExtractSubset(kept, info.Rect) ? kept.PeekPixels() : null;
        using CatchingStream stream = new(destination);
        bool isEncoded = pixels is not null && pixels.Encode(stream, format, quality);
        stream.ThrowIfFailed();
        if (!isEncoded)
        {
            throw new NotSupportedException(
                Invariant($"Skia does not encode {info.Width} × {info.Height} pixels of {info.ColorType} as {format}."));
        }
    }

    /// <summary>Makes a bitmap of pixels without a copy. They stay the buffer's, and are pinned while the bitmap lives.</summary>
    /// <typeparam name="TPixel">
    /// The pixel. Its size decides the colour type: 1 byte <see cref="SKColorType.Gray8"/>, 2 <see cref="SKColorType.Rgb565"/>, 4
    /// <see cref="SKColorType.Rgba8888"/> (<see cref="SKColor"/>: <see cref="SKColorType.Bgra8888"/>), 8
    /// <see cref="SKColorType.Rgba16161616"/>, 16 <see cref="SKColorType.RgbaF32"/>; with premultiplied alpha, but for
    /// <see cref="SKColor"/>.
    /// </typeparam>
    /// <param name="pixels">The pixels, in one piece: see <see cref="AllocationOptions.Contiguous"/>.</param>
    /// <returns>The bitmap, which the caller disposes. If the buffer is disposed first, its memory is returned with the bitmap.</returns>
    /// <exception cref="InvalidOperationException">The pixels are not in one piece.</exception>
    /// <exception cref="NotSupportedException">
    /// No colour type has pixels of this size. Or rows are from the bottom up, or no whole number of pixels apart.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The buffer is disposed.</exception>
    [return: OwnedBuffer]
    public static SKBitmap AsBitmap<TPixel>([Borrowed] this PixelBuffer<TPixel> pixels)
        where TPixel : unmanaged
    {
        ArgumentNullException.ThrowIfNull(pixels);
        bool isColor = typeof(TPixel) == typeof(SKColor);
        SKColorType colorType = isColor ? SKColorType.Bgra8888 : Unsafe.SizeOf<TPixel>() switch
        {
            1 => SKColorType.Gray8,
            2 => SKColorType.Rgb565,
            4 => SKColorType.Rgba8888,
            8 => SKColorType.Rgba16161616,
            16 => SKColorType.RgbaF32,
            int size => throw new NotSupportedException($"No colour type has pixels of {size} bytes, as {typeof(TPixel)} has."),
        };
        if (pixels.RowStrideInBytes < 0 || pixels.RowStrideInBytes % Unsafe.SizeOf<TPixel>() != 0)
        {
            throw new NotSupportedException(
                Invariant($"Skia has no rows that are {pixels.RowStrideInBytes} bytes apart. Clone makes packed rows from the top."));
        }

        SKAlphaType alphaType = isColor ? SKAlphaType.Unpremul
            : colorType is SKColorType.Gray8 or SKColorType.Rgb565 ? SKAlphaType.Opaque : SKAlphaType.Premul;
        SKImageInfo info = new(pixels.Width, pixels.Height, colorType, alphaType);
        PixelMemory memory = PixelMemory.Share(pixels);
        SKBitmap? bitmap = null;
        try
        {
            bitmap = new SKBitmap();
            return bitmap.InstallPixels(info, memory.Address, memory.RowBytes, PixelMemory.BitmapRelease, memory)
                ? bitmap
                : throw new NotSupportedException(
                    Invariant($"Skia has no bitmap of {info.Width} × {info.Height} pixels of {colorType}."));
        }
        catch
        {
            // A second release does nothing.
            bitmap?.Dispose();
            memory.Release();
            throw;
        }
    }

    /// <summary>
    /// Computes the most memory that decoding a picture takes, as <see cref="DecodeBitmapAsync"/> reserves it: the file, the pixels, the
    /// codec's memory from malloc, and <see cref="SKBitmapDecodeOptions.WorkingBytes"/>.
    /// </summary>
    /// <param name="allocator">The allocator that the picture will use.</param>
    /// <param name="seekable">The file. Its beginning is read, and its position restored.</param>
    /// <param name="options">The options of the bitmap.</param>
    /// <returns>The bytes, for <see cref="MemoryAllocator.ReserveAsync(long, CancellationToken)"/>.</returns>
    /// <remarks>
    /// It reads these from the header: the size, progressive or baseline, the sampling of colours, interlacing, alpha, the orientation. A
    /// header may claim more than the file has; limits of the allocator refuse that.
    /// </remarks>
    /// <exception cref="ArgumentException">The stream cannot seek, or is at its end and not rewound.</exception>
    /// <exception cref="InvalidDataException">The file is no picture that Skia decodes.</exception>
    /// <exception cref="IOException">The stream cannot be read.</exception>
    public static long EstimateBitmapBytes(this MemoryAllocator allocator, Stream seekable, SKBitmapDecodeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        ArgumentNullException.ThrowIfNull(seekable);
        if (!seekable.CanSeek)
        {
            throw new ArgumentException("The stream cannot seek: what is read would be lost. Pass its first bytes.", nameof(seekable));
        }

        long position = seekable.Position;
        try
        {
            using EncodedPicture source = new(allocator, seekable, isAsync: false, isReserved: false, CancellationToken.None);
            CodecHeader header = source.ReadHeaderAsync().AsTask().GetAwaiter().GetResult();
            return new DecodePlan(header, options).Estimate(allocator, source.ExpectedLength(header));
        }
        finally
        {
            seekable.Position = position;
        }
    }

    /// <param name="allocator">The allocator that the picture will use.</param>
    /// <param name="header">The file, or its beginning, which must have the whole header: 64 KiB are enough for most.</param>
    /// <param name="options">The options of the bitmap.</param>
    /// <returns>
    /// The bytes. They include only the given part of the file: add the length of the rest.
    /// </returns>
    /// <exception cref="InvalidDataException">The file is no picture that Skia decodes, or its header is cut off.</exception>
    /// <inheritdoc cref="EstimateBitmapBytes(MemoryAllocator, Stream, SKBitmapDecodeOptions?)" path="/summary | /remarks"/>
    public static long EstimateBitmapBytes(
        this MemoryAllocator allocator, ReadOnlySpan<byte> header, SKBitmapDecodeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(allocator);
        CodecHeader read = CodecHeader.TryRead(header, isComplete: false, mustDo: true)!;
        return new DecodePlan(read, options).Estimate(allocator, header.Length);
    }

    // Skia ends the process if it is called with a disposed object.
    private static void ThrowIfDisposed(SKBitmap bitmap) => ObjectDisposedException.ThrowIf(bitmap.Handle == 0, bitmap);
}

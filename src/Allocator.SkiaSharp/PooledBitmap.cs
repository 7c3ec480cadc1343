using Allocator.Skia;

namespace Allocator;

/// <summary>
/// A bitmap whose pixels are in pooled memory: counted, limited, and returned by <see cref="SKNativeObject.Dispose()"/>. Created by
/// <see cref="SkiaSharpMemory"/>.
/// </summary>
/// <remarks>
/// The pixels are returned with the bitmap, or with the last immutable image or subset that shares them. A pixmap does not keep them alive.
/// Like every bitmap, it is safe for concurrent readers, but not for writers. A bitmap that is dropped without <c>Dispose</c> is reported
/// as abandoned memory, like any other owner of this library.
/// </remarks>
public sealed class PooledBitmap : SKBitmap
{
    private readonly MemoryReservation? _reservation;
    private PixelMemory? _pixels;

    private PooledBitmap(MemoryAllocator allocator, MemoryReservation? reservation)
    {
        Allocator = allocator;
        _reservation = reservation;
    }

    /// <summary>
    /// Gets whether the file was cut off and accepted because of <see cref="SKBitmapDecodeOptions.AcceptIncomplete"/>.
    /// </summary>
    public bool IsIncomplete { get; internal set; }

    /// <summary>
    /// Gets the part of the bitmap for which the file had rows, in pixels of this bitmap. It is all of it unless
    /// <see cref="IsIncomplete"/>.
    /// </summary>
    /// <remarks>
    /// Its height is the number of rows, or its width if the orientation turned the picture. The rest is grey, black or transparent, as the
    /// codec leaves it. If all rows are there and the bitmap is still incomplete, later scans of a progressive picture are missing, so it
    /// is coarse.
    /// </remarks>
    public SKRectI DecodedRect { get; internal set; }

    /// <summary>
    /// Gets the allocator of the pixels. Use it for everything else this picture needs. After
    /// <see cref="SkiaSharpMemory.DecodeBitmapAsync"/> it is the reservation of the picture, with room for
    /// <see cref="SKBitmapDecodeOptions.WorkingBytes"/>. That reservation ends when this bitmap is disposed.
    /// </summary>
    public MemoryAllocator Allocator { get; }

    /// <summary>
    /// Encodes the bitmap straight into a stream: <see cref="SkiaSharpMemory.Encode"/>. It hides the method of <see cref="SKBitmap"/>,
    /// which C# would prefer to the extension method, and which ends the process if the stream throws.
    /// </summary>
    /// <inheritdoc cref="SkiaSharpMemory.Encode" path="/param[not(@name = 'bitmap')] | /exception | /remarks"/>
    public new void Encode(Stream destination, SKEncodedImageFormat format, int quality) =>
        SkiaSharpMemory.Encode(this, destination, format, quality);

    /// <summary>Makes a bitmap of memory, and takes ownership of it, even if it fails.</summary>
    /// <exception cref="ArgumentException">Skia does not accept the description.</exception>
    internal static PooledBitmap Create(MemoryAllocator allocator, SKImageInfo info, PixelMemory pixels, MemoryReservation? reservation)
    {
        PooledBitmap? bitmap = null;
        try
        {
            bitmap = new PooledBitmap(allocator, reservation) { _pixels = pixels, DecodedRect = info.Rect };
            return bitmap.InstallPixels(info, pixels.Address, pixels.RowBytes, PixelMemory.BitmapRelease, pixels)
                ? bitmap
                : throw new ArgumentException(
                    Invariant($"Skia has no bitmap of {info.Width} × {info.Height} pixels of {info.ColorType}."), nameof(info));
        }
        catch
        {
            // Skia has called the delegate, unless there was no memory to call Skia. A second release does nothing.
            bitmap?.Dispose();
            pixels.Release();
            throw;
        }
    }

    /// <summary>Disposes the bitmap, and ends the reservation that was made for it.</summary>
    /// <param name="disposing">False if the bitmap was dropped; its memory is then reported as abandoned.</param>
    protected override void Dispose(bool disposing)
    {
        if (!disposing)
        {
            // Skia keeps the memory alive until it releases it. From here on the owner's finalizer works as for every other owner.
            _pixels?.Abandon();
        }

        base.Dispose(disposing);
        if (disposing)
        {
            _reservation?.Dispose();
        }
    }
}

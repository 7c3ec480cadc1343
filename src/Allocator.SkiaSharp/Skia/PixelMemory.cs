using System.Runtime.Intrinsics;

namespace Allocator.Skia;

/// <summary>Memory that Skia uses, and its way back: pinned until Skia's release delegate runs, on whatever thread that is.</summary>
internal sealed class PixelMemory
{
    /// <summary>The delegate that Skia calls when nothing refers to the pixels of a bitmap any more. Its context is the memory.</summary>
    public static readonly SKBitmapReleaseDelegate BitmapRelease = static (_, context) => ((PixelMemory)context).Release();

    public static readonly SKSurfaceReleaseDelegate SurfaceRelease = static (_, context) => ((PixelMemory)context).Release();

    private IDisposable? _owner;
    private MemoryHandle _pin;

    private unsafe PixelMemory(IDisposable? owner, in MemoryHandle pin, int rowBytes)
    {
        _owner = owner;
        _pin = pin;
        Address = (nint)pin.Pointer;
        RowBytes = rowBytes;
    }

    public nint Address { get; }

    public int RowBytes { get; }

    /// <summary>Allocates the pixels of a bitmap. Its rows have no gaps.</summary>
    public static PixelMemory Allocate(MemoryAllocator allocator, SKImageInfo info, AllocationOptions options) =>
        info.BytesPerPixel switch
        {
            1 => Allocate<byte>(allocator, info, options),
            2 => Allocate<ushort>(allocator, info, options),
            4 => Allocate<uint>(allocator, info, options),
            8 => Allocate<ulong>(allocator, info, options),
            16 => Allocate<Vector128<byte>>(allocator, info, options),
            _ => throw new ArgumentException($"The colour type {info.ColorType} has no pixels. Use another one.", nameof(info)),
        };

    /// <summary>Pins pixels that still belong to their owner.</summary>
    /// <exception cref="InvalidOperationException">The pixels are not in one piece.</exception>
    public static PixelMemory Share<TPixel>(PixelBuffer<TPixel> pixels)
        where TPixel : unmanaged =>
        new(null, pixels.Pin(), pixels.RowStrideInBytes);

    /// <summary>Leaves the owner to its finalizer, which reports it.</summary>
    public void Abandon() => _owner = null;

    /// <summary>Returns the memory. No exception leaves it, because one that passes Skia ends the process.</summary>
    public void Release()
    {
        try
        {
            // If the owner was disposed first, the end of the pin returns the memory.
            _owner?.Dispose();
        }
        catch (Exception)
        {
            // In Guarded mode something has written past the pixels. This was raised as an event.
        }

        try
        {
            _pin.Dispose();
        }
        catch (Exception)
        {
            // The same, if the pin was the last reference to the memory.
        }
    }

    private static PixelMemory Allocate<TPixel>(MemoryAllocator allocator, SKImageInfo info, AllocationOptions options)
        where TPixel : unmanaged
    {
        PixelBuffer<TPixel> pixels = allocator.AllocatePixels<TPixel>(info.Width, info.Height, options | AllocationOptions.Contiguous);
        try
        {
            return new PixelMemory(pixels, pixels.Pin(), info.RowBytes);
        }
        catch
        {
            pixels.Dispose();
            throw;
        }
    }
}

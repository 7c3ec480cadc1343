using System.Buffers;
using System.Runtime.CompilerServices;

namespace LoadResizeSave.Pixels;

/// <summary>Lends managed arrays: of <see cref="ArrayPool{T}.Shared"/>, or a new one each time.</summary>
internal sealed class ArrayStore(bool pooled) : PixelStore
{
    /// <summary>
    /// Gets what the collector holds of the operating system's memory. It counts that only when it collects; heap that grew since then is
    /// counted by its contents.
    /// </summary>
    public override long CommittedBytes
        => Math.Max(GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes, GC.GetTotalMemory(forceFullCollection: false));

    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
    {
        long bytes = (long)width * height * Unsafe.SizeOf<TPixel>();
        if (bytes > Array.MaxLength)
        {
            throw new OutOfMemoryException($"{bytes:N0} bytes are more than one array can hold.");
        }

        return new ArrayRaster<TPixel>(Allocate<byte>((int)bytes), width, height);
    }

    public override IMemoryOwner<T> Allocate<T>(int length)
        => pooled ? new RentedArray<T>(length) : new CollectedArray<T>(length);

    /// <summary>
    /// Does nothing: neither the shared pools nor the collector can be told to give memory back without collecting everybody's garbage.
    /// </summary>
    public override void Release()
    {
    }

    public override void Dispose()
    {
    }
}

using System.Buffers;
using LoadResizeSave.Pixels;

namespace Measurements.Factors;

/// <summary>
/// A store that is not told what libraries take for themselves: its peak is then what was lent, and theirs shows in the process.
/// </summary>
internal sealed class UncountedStore(PixelStore store) : PixelStore
{
    private readonly PixelStore _store = store;

    public override long CommittedBytes => _store.CommittedBytes;

    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous) =>
        _store.AllocatePixels<TPixel>(width, height, contiguous);

    public override IMemoryOwner<T> Allocate<T>(int length) => _store.Allocate<T>(length);

    public override IDisposable? CountExternal(long bytes) => null;

    public override void Release() => _store.Release();

    public override void Dispose()
    {
    }
}

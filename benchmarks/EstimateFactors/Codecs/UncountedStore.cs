using System;
using System.Buffers;
using LoadResizeSave.Pixels;

namespace EstimateFactors.Codecs;

/// <summary>
/// A store that is not told what libraries take for themselves: its peak is then what was lent, and theirs shows in the process.
/// </summary>
internal sealed class UncountedStore : PixelStore
{
    private readonly PixelStore _store;

    /// <summary>Stands before <paramref name="store"/>, which is not disposed with it.</summary>
    public UncountedStore(PixelStore store) => _store = store;

    /// <inheritdoc/>
    public override long CommittedBytes => _store.CommittedBytes;

    /// <inheritdoc/>
    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous) =>
        _store.AllocatePixels<TPixel>(width, height, contiguous);

    /// <inheritdoc/>
    public override IMemoryOwner<T> Allocate<T>(int length) => _store.Allocate<T>(length);

    /// <inheritdoc/>
    public override IDisposable? CountExternal(long bytes) => null;

    /// <inheritdoc/>
    public override void Release() => _store.Release();

    /// <inheritdoc/>
    public override void Dispose()
    {
    }
}

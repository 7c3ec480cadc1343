using System.Runtime.InteropServices;
using Allocator;
using Measuring.Memory;

namespace Fragmentation.Subjects;

/// <summary>An image in a pixel buffer of this library.</summary>
internal sealed class PixelImage : HeldImage
{
    private readonly PixelBuffer<uint> _pixels;

    /// <summary>Holds <paramref name="pixels"/>.</summary>
    public PixelImage(PixelBuffer<uint> pixels) => _pixels = pixels;

    /// <inheritdoc/>
    public override void Touch() => _pixels.ProcessPixelRows(static rows =>
    {
        for (int y = 0; y < rows.Height; y++)
        {
            PageTouch.Write(MemoryMarshal.AsBytes(rows.GetRowSpan(y)));
        }
    });

    /// <inheritdoc/>
    public override void Dispose() => _pixels.Dispose();
}

using System.Runtime.InteropServices;
using Measuring.Classic;
using Measuring.Memory;

namespace Fragmentation.Subjects;

/// <summary>An image in a buffer of the model of the classic pool.</summary>
internal sealed class ClassicImage : HeldImage
{
    private readonly ClassicGroup<uint> _rows;
    private readonly int _width;
    private readonly int _height;

    /// <summary>Holds <paramref name="rows"/>.</summary>
    public ClassicImage(ClassicGroup<uint> rows, int width, int height)
    {
        _rows = rows;
        _width = width;
        _height = height;
    }

    /// <inheritdoc/>
    public override void Touch()
    {
        for (int y = 0; y < _height; y++)
        {
            PageTouch.Write(MemoryMarshal.AsBytes(_rows.GetRow(y, _width)));
        }
    }

    /// <inheritdoc/>
    public override void Dispose() => _rows.Dispose();
}

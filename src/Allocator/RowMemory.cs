namespace Allocator;

/// <summary>Adjacent pixels of a buffer as <see cref="Memory{T}"/>. It references the buffer, so it keeps the memory alive.</summary>
internal sealed class RowMemory<TPixel>(PixelBuffer<TPixel> pixels, int y, int length) : MemoryManager<TPixel>
    where TPixel : unmanaged
{
    public override Memory<TPixel> Memory => CreateMemory(length);

    public override Span<TPixel> GetSpan() => pixels.DangerousGetSpan(y, length);

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        Throw.IfNotWithin(elementIndex, length, nameof(elementIndex));
        return pixels.Pin(y, elementIndex, this);
    }

    public override void Unpin() => pixels.Unpin();

    protected override bool TryGetArray(out ArraySegment<TPixel> segment) => pixels.TryGetArray(y, length, out segment);

    // The buffer is disposed, not its rows.
    protected override void Dispose(bool disposing)
    {
    }
}

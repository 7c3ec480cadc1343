namespace Allocator.Lifetime;

/// <summary>
/// Two pins in one: of managed memory, and of the buffer around it, if there is one. Made before the first, because nothing may fail after
/// it.
/// </summary>
/// <remarks>A copied handle ends the pin of the memory only once: another handle of the collector may have its place by then.</remarks>
internal sealed class NestedPin(IPinnable? buffer) : IPinnable
{
    private MemoryHandle _memory;
    private int _isOver;

    /// <summary>Returns the handle for an offset into memory that was just pinned. Called once.</summary>
    public unsafe MemoryHandle Hold(MemoryHandle memory, nint offsetInBytes)
    {
        _memory = memory;
        return new MemoryHandle((byte*)memory.Pointer + offsetInBytes, default, this);
    }

    // The handle made with this has pinned it already.
    MemoryHandle IPinnable.Pin(int elementIndex) => buffer?.Pin(elementIndex) ?? _memory;

    public void Unpin()
    {
        try
        {
            if (Interlocked.Exchange(ref _isOver, 1) == 0)
            {
                _memory.Dispose();
            }
        }
        finally
        {
            // The other pin may be the caller's code and may throw. The buffer is released anyway.
            buffer?.Unpin();
        }
    }
}

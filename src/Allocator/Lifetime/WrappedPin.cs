using System.Buffers;

namespace Allocator.Lifetime;

/// <summary>Ends two pins in one: of memory that the caller owns, and of the buffer around it.</summary>
internal sealed class WrappedPin : IPinnable
{
    private readonly IPinnable _buffer;
    private MemoryHandle _memory;

    public WrappedPin(in MemoryHandle memory, IPinnable buffer)
    {
        _memory = memory;
        _buffer = buffer;
    }

    // The handle that is made with this has pinned already.
    public MemoryHandle Pin(int elementIndex) => _buffer.Pin(elementIndex);

    public void Unpin()
    {
        try
        {
            _memory.Dispose();
        }
        finally
        {
            // The other pin is somebody else's code, and may throw: the buffer is released all the same.
            _buffer.Unpin();
        }
    }
}

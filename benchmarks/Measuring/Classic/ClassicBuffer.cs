using System;
using System.Buffers;

namespace Measuring.Classic;

/// <summary>The classic owner: a memory manager over unmanaged memory, with a guard of its own or that of its group.</summary>
/// <typeparam name="T">The element type.</typeparam>
public sealed unsafe class ClassicBuffer<T> : MemoryManager<T>
    where T : unmanaged
{
    private readonly void* _pointer;
    private readonly int _length;
    private readonly ClassicGuard _guard;
    private bool _disposed;

    /// <summary>Wraps <paramref name="length"/> elements at <paramref name="pointer"/>.</summary>
    public ClassicBuffer(nint pointer, int length, ClassicGuard guard)
    {
        _pointer = (void*)pointer;
        _length = length;
        _guard = guard;
    }

    /// <inheritdoc/>
    public override Span<T> GetSpan()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return new Span<T>(_pointer, _length);
    }

    /// <inheritdoc/>
    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        _guard.AddReference();
        return new MemoryHandle((T*)_pointer + elementIndex, pinnable: this);
    }

    /// <inheritdoc/>
    public override void Unpin() => _guard.ReleaseReference();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (!_disposed)
        {
            _disposed = true;
            _guard.Dispose();
        }
    }
}

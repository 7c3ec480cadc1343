using System;
using System.Buffers;

namespace Measuring.Classic;

/// <summary>The classic owner: a memory manager over unmanaged memory, with a guard of its own or that of its group.</summary>
public sealed unsafe class ClassicBuffer<T> : MemoryManager<T>
    where T : unmanaged
{
    private readonly void* _pointer;
    private readonly int _length;
    private readonly ClassicGuard _guard;
    private bool _disposed;

    public ClassicBuffer(nint pointer, int length, ClassicGuard guard)
    {
        _pointer = (void*)pointer;
        _length = length;
        _guard = guard;
    }

    public override Span<T> GetSpan()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return new Span<T>(_pointer, _length);
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        _guard.AddReference();
        return new MemoryHandle((T*)_pointer + elementIndex, pinnable: this);
    }

    public override void Unpin() => _guard.ReleaseReference();

    protected override void Dispose(bool disposing)
    {
        if (!_disposed)
        {
            _disposed = true;
            _guard.Dispose();
        }
    }
}

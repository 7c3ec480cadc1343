using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Allocator.Lifetime;

/// <summary>The owner that users hold: one rent of a guard. Small, and without a finalizer: the guard has it.</summary>
internal sealed class GuardedMemoryOwner<T> : MemoryManager<T>, IMemoryOwner<T>
    where T : struct
{
    private readonly LifetimeGuard _guard;
    private readonly long _generation;
    private readonly int _length;

    public GuardedMemoryOwner(LifetimeGuard guard, long generation, int length)
    {
        _guard = guard;
        _generation = generation;
        _length = length;
    }

    public override Memory<T> Memory
    {
        get
        {
            ThrowIfDisposed();
            return CreateMemory(_length);
        }
    }

    // Implemented anew: the base class would also suppress a finalizer that is not there.
    void IDisposable.Dispose() => _guard.Dispose(_generation);

    public override Span<T> GetSpan()
    {
        ThrowIfDisposed();
        return _guard.GetSpan<T>(_length);
    }

    public override MemoryHandle Pin(int elementIndex = 0) => GuardedPin.Pin<T>(_guard, _generation, _length, elementIndex, this);

    public override void Unpin() => _guard.RemoveReference(_generation);

    protected override bool TryGetArray(out ArraySegment<T> segment)
    {
        ThrowIfDisposed();
        if (_guard.Array is T[] array)
        {
            segment = new ArraySegment<T>(array, 0, _length);
            return true;
        }

        segment = default;
        return false;
    }

    protected override void Dispose(bool disposing) => _guard.Dispose(_generation);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ThrowIfDisposed()
    {
        if (!_guard.IsHeld(_generation))
        {
            Throw.Disposed(nameof(IMemoryOwner<T>));
        }
    }
}

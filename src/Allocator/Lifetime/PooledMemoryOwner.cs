using System.Diagnostics.CodeAnalysis;

namespace Allocator.Lifetime;

/// <summary>The owner that users hold: a guard, and the generation of one rent. Small; its guard has the finalizer.</summary>
internal sealed class PooledMemoryOwner<T> : MemoryManager<T>, IMemoryOwner<T>, IRented
    where T : struct
{
    private LifetimeGuard _guard = null!;
    private long _generation;

    public override Memory<T> Memory
    {
        get
        {
            GetHeldGuard(out int length);
            return CreateMemory(length);
        }
    }

    public void Begin(LifetimeGuard guard, long generation)
    {
        _guard = guard;
        _generation = generation;
    }

    public void Begin(in Allocation allocation) => Begin(allocation.Guard!, allocation.Generation);

    // Overridden, because the base class would also suppress a finalizer, which does not exist here.
    void IDisposable.Dispose() => Dispose(true);

    public override Span<T> GetSpan()
    {
        LifetimeGuard guard = _guard;
        if (!guard.TryGetSpan(_generation, LengthOf(guard), out Span<T> span))
        {
            ThrowDisposed();
        }

        return span;
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        LifetimeGuard guard = GetHeldGuard(out int length);
        return guard.Pin<T>(_generation, length, elementIndex, this);
    }

    public override void Unpin() => LifetimeGuard.RemoveReferenceAndForget(ref _guard, _generation);

    protected override bool TryGetArray(out ArraySegment<T> segment)
    {
        // Read before the state, which confirms it. The length is read the same way.
        T[]? array = _guard.Array as T[];
        GetHeldGuard(out int length);
        segment = array is null ? default : new ArraySegment<T>(array, 0, length);
        return array is not null;
    }

    protected override void Dispose(bool disposing) => LifetimeGuard.DisposeAndForget(ref _guard, _generation);

    // From the guard: a field would make every owner larger.
    private static int LengthOf(LifetimeGuard guard) => (int)(guard.UsedBytes / Unsafe.SizeOf<T>());

    // Reads the guard once, because another thread's Dispose replaces it. Reads the length before the state, which confirms it.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private LifetimeGuard GetHeldGuard(out int length)
    {
        LifetimeGuard guard = _guard;
        length = LengthOf(guard);
        if (!guard.IsHeld(_generation))
        {
            ThrowDisposed();
        }

        return guard;
    }

    [DoesNotReturn]
    private void ThrowDisposed() => Throw.Disposed(nameof(IMemoryOwner<T>), _guard);
}

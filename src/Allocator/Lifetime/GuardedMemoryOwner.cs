using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Allocator.Lifetime;

/// <summary>The owner that users hold: one rent of a guard. Small, and without a finalizer: the guard has it.</summary>
internal sealed class GuardedMemoryOwner<T> : MemoryManager<T>, IMemoryOwner<T>
    where T : struct
{
    private LifetimeGuard _guard;
    private long _generation;

    /// <param name="guard">The guard, whose rent has begun with as many bytes as the elements take.</param>
    /// <param name="generation">The generation of the rent.</param>
    public GuardedMemoryOwner(LifetimeGuard guard, long generation)
    {
        _guard = guard;
        _generation = generation;
    }

    public override Memory<T> Memory => CreateMemory(LengthOf(GetHeldGuard()));

    // Implemented anew: the base class would also suppress a finalizer that is not there.
    void IDisposable.Dispose() => Dispose(true);

    public override Span<T> GetSpan()
    {
        LifetimeGuard guard = GetHeldGuard();
        return guard.GetSpan<T>(LengthOf(guard));
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        LifetimeGuard guard = GetHeldGuard();
        return GuardedPin.Pin<T>(guard, _generation, LengthOf(guard), elementIndex, this);
    }

    public override void Unpin()
    {
        LifetimeGuard guard = _guard;
        EndedRent ended = guard.Remember(_generation);
        if (guard.RemoveReference(_generation))
        {
            End(ended);
        }
    }

    protected override bool TryGetArray(out ArraySegment<T> segment)
    {
        LifetimeGuard guard = GetHeldGuard();
        if (guard.Array is T[] array)
        {
            segment = new ArraySegment<T>(array, 0, LengthOf(guard));
            return true;
        }

        segment = default;
        return false;
    }

    protected override void Dispose(bool disposing)
    {
        LifetimeGuard guard = _guard;
        EndedRent ended = guard.Remember(_generation);
        if (guard.Dispose(_generation))
        {
            End(ended);
        }
    }

    private void End(in EndedRent ended)
    {
        _generation = ended.Memory;
        _guard = ended.Guard;
    }

    // Not kept here: every byte of an owner is paid for at every rent.
    private static int LengthOf(LifetimeGuard guard) => (int)(guard.UsedBytes / Unsafe.SizeOf<T>());

    // Read once: another thread's Dispose puts another guard there.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private LifetimeGuard GetHeldGuard()
    {
        LifetimeGuard guard = _guard;
        if (!guard.IsHeld(_generation))
        {
            Throw.Disposed(nameof(IMemoryOwner<T>), _guard, _generation);
        }

        return guard;
    }
}

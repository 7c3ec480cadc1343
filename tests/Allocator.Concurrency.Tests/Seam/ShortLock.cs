using Allocator.Concurrency.Interleaving.Atomics;

// The library's sources of this assembly take it for their own.
namespace Allocator;

/// <summary>
/// What the library's short sections become: entering is a step, and a thread that finds the lock taken stands until it is free.
/// </summary>
internal sealed class ShortLock
{
    public ShortLock(bool mayCallSystem = false, bool mayAllocate = false)
    {
        MayCallSystem = mayCallSystem;
        MayAllocate = mayAllocate;
    }

    public bool MayCallSystem { get; }

    public bool MayAllocate { get; }

    public bool IsHeld => Locks.IsEntered(this);

    public static void AssertNoneHeld()
    {
    }

    public Section Enter()
    {
        bool isTaken = false;
        Locks.Enter(this, ref isTaken);
        return new Section(this);
    }

    public readonly ref struct Section(ShortLock held)
    {
        public void Dispose() => Locks.Exit(held);
    }
}

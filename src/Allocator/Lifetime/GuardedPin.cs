using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Allocator.Lifetime;

/// <summary>Pins a rent: a reference that keeps the memory out of the pool, even past <c>Dispose</c>, and for an array a handle that keeps it in place.</summary>
internal static unsafe class GuardedPin
{
    /// <summary>Pins, and gives the address of one element. <paramref name="pinnable"/> is what the handle calls back, and what keeps the memory's owner alive.</summary>
    public static MemoryHandle Pin<T>(LifetimeGuard guard, long generation, int length, int elementIndex, IPinnable pinnable, nint offsetInBytes = 0)
        where T : struct
    {
        if ((uint)elementIndex > (uint)length)
        {
            Throw.OutOfRange(nameof(elementIndex), elementIndex, $"must be from 0 to {length}");
        }

        if (!guard.TryAddReference(generation))
        {
            Throw.Disposed(nameof(IMemoryOwner<T>), guard, generation);
        }

        nint offset = offsetInBytes + (nint)elementIndex * Unsafe.SizeOf<T>();
        if (guard.Array is not byte[] array)
        {
            return new MemoryHandle((byte*)guard.Address + offset, default, pinnable);
        }

        try
        {
            if (guard is WrappedGuard<T> wrapped)
            {
                return wrapped.Pin(elementIndex, pinnable);
            }

            GCHandle handle = GCHandle.Alloc(array, GCHandleType.Pinned);
            return new MemoryHandle((byte*)handle.AddrOfPinnedObject() + offset, handle, pinnable);
        }
        catch
        {
            guard.RemoveReference(generation);
            throw;
        }
    }
}

using System.Buffers;
using System.Runtime.InteropServices;

namespace Measuring.Classic;

/// <summary>The model's entry point: what fits a block comes from the pool, what does not from the heap.</summary>
public sealed class ClassicAllocator
{
    private readonly ClassicPool _pool;

    public ClassicAllocator(int capacity) => _pool = new ClassicPool(4 << 20, capacity);

    public unsafe IMemoryOwner<T> Allocate<T>(int length)
        where T : unmanaged
    {
        long bytes = (long)length * sizeof(T);
        nint block = bytes <= _pool.BlockSizeInBytes ? _pool.Rent() : 0;
        ClassicGuard guard = block != 0
            ? new ClassicBlockGuard(_pool, block)
            : new ClassicHeapGuard(block = Marshal.AllocHGlobal((nint)bytes));
        return new ClassicBuffer<T>(block, length, guard);
    }

    /// <summary>Allocates a discontiguous buffer of <paramref name="height"/> rows of <paramref name="width"/> elements.</summary>
    public ClassicGroup<T> AllocateRows<T>(int width, int height)
        where T : unmanaged
        => ClassicGroup<T>.Allocate(_pool, checked(width * height), width);

    public void Release() => _pool.Release();
}

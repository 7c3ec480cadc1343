namespace Measurements.Reach;

/// <summary>The operations that figures compare, each in a loop of its own: a call between would cost as much as some of them.</summary>
internal static class Loops
{
    public static Action<int> Owner(MemoryAllocator allocator, int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Allocate<byte>(length).Dispose();
        }
    };

    public static Action<int> Lease(MemoryAllocator allocator, int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Rent<byte>(length).Dispose();
        }
    };

    public static Action<int> TouchedLease(MemoryAllocator allocator, int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> lease = allocator.Rent<byte>(length);
            PageTouch.Write(lease.Span);
        }
    };

    public static Action<int> ClassicOwner(ClassicAllocator allocator, int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            allocator.Allocate<byte>(length).Dispose();
        }
    };

    public static Action<int> Array(int length) => count =>
    {
        ArrayPool<byte> arrays = ArrayPool<byte>.Shared;
        for (int i = 0; i < count; i++)
        {
            arrays.Return(arrays.Rent(length));
        }
    };

    public static Action<int> SharedOwner(int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            MemoryPool<byte>.Shared.Rent(length).Dispose();
        }
    };

    public static Action<int> TouchedHeap(int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            nint memory = Marshal.AllocHGlobal(length);
            PageTouch.Write(memory, length);
            Marshal.FreeHGlobal(memory);
        }
    };
}

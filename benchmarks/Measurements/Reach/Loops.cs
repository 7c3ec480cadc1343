namespace Measurements.Reach;

/// <summary>The operations that figures compare, each in a loop of its own: a call between would cost as much as some of them.</summary>
internal static class Loops
{
    public static Action<int> Owner(MemoryAllocator allocator, int length)
        => Of<MemorySource.Owners, HeldOwner>(new MemorySource.Owners(allocator), length);

    public static Action<int> ClassicOwner(ClassicAllocator allocator, int length)
        => Of<MemorySource.ClassicOwners, HeldOwner>(new MemorySource.ClassicOwners(allocator), length);

    public static Action<int> SharedOwner(int length) => Of<MemorySource.SharedOwners, HeldOwner>(default, length);

    public static Action<int> Array(int length) => Of<MemorySource.Arrays, HeldArray>(default, length);

    public static Action<int> TouchedHeap(int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            nint memory = Marshal.AllocHGlobal(length);
            PageTouch.Write(memory, length);
            Marshal.FreeHGlobal(memory);
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

    private static Action<int> Of<TSource, THeld>(TSource source, int length)
        where TSource : struct, IMemorySource<THeld>
        where THeld : struct, IHeldBytes => count =>
        {
            TSource local = source;
            for (int i = 0; i < count; i++)
            {
                local.Free(local.Allocate(length), length);
            }
        };
}

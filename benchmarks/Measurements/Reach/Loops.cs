namespace Measurements.Reach;

/// <summary>The operations that figures compare, each in a loop of its own: a call between would cost as much as some of them.</summary>
internal static class Loops
{
    public static Action<int> Owner(MemoryAllocator allocator, int length)
        => Of<MemorySource.Owners, HeldOwner>(new MemorySource.Owners(allocator), length);

    public static Action<int> AlignedOwner(MemoryAllocator allocator, int length, int alignment)
        => Of<MemorySource.AlignedOwners, HeldOwner>(new MemorySource.AlignedOwners(allocator, alignment), length);

    public static Action<int> ClassicOwner(ClassicAllocator allocator, int length)
        => Of<MemorySource.ClassicOwners, HeldOwner>(new MemorySource.ClassicOwners(allocator), length);

    public static Action<int> SharedOwner(int length) => Of<MemorySource.SharedOwners, HeldOwner>(default, length);

    public static Action<int> Array(int length) => Of<MemorySource.Arrays, HeldArray>(default, length);

    public static Action<int> Heap(int length) => Of<MemorySource.Heap, HeldAddress>(default, length);

    public static Action<int> AlignedHeap(int length, int alignment)
        => Of<MemorySource.AlignedHeap, HeldAddress>(new MemorySource.AlignedHeap(alignment), length);

    public static Action<int> TouchedHeap(int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            nint memory = Marshal.AllocHGlobal(length);
            PageTouch.Write(memory, length);
            Marshal.FreeHGlobal(memory);
        }
    };

    /// <summary>What the kernel gives at best: a mapping on a boundary of huge pages, of which it is told.</summary>
    public static Action<int> TouchedHugePages(int length) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            using HugePageMemory memory = new(length);
            PageTouch.Write(memory.Address, length);
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

    public static Action<int> Each(Action operation) => count =>
    {
        for (int i = 0; i < count; i++)
        {
            operation();
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

/// <summary>A mapping that begins on a boundary of 2 MiB; on Linux the system is asked for huge pages.</summary>
internal sealed partial class HugePageMemory : IDisposable
{
    private const int Boundary = 2 << 20;
    private const int AdviseHugePages = 14;

    private readonly nint _mapping;
    private readonly int _length;

    public HugePageMemory(int length)
    {
        _length = length;
        _mapping = PageMemory.Allocate(length + Boundary);
        Address = (_mapping + Boundary - 1) & -Boundary;
        if (OperatingSystem.IsLinux())
        {
            _ = Advise(Address, (nuint)length, AdviseHugePages);
        }
    }

    public nint Address { get; }

    public unsafe Span<T> GetSpan<T>()
        where T : unmanaged => new((void*)Address, _length / sizeof(T));

    public void Dispose() => PageMemory.Free(_mapping, _length + Boundary);

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nint address, nuint length, int advice);
}

namespace Allocator.Benchmarks;

/// <summary>What benchmarks of memory share: the allocator, the model that it is compared with, and the ways around them.</summary>
[MemoryDiagnoser]
public abstract class PoolBenchmarks
{
    // Enough for 32 threads with four blocks each, whatever the machine's memory; blocks that were not touched cost addresses only.
    private protected const int PoolMegabytes = 1024;

    private protected MemoryAllocator Pool { get; private set; } = null!;

    private protected ClassicAllocator ClassicAllocator { get; private set; } = null!;

    // BenchmarkDotNet accepts one such method a class, inherited ones and overridden ones included: classes override the hooks.
    [GlobalSetup]
    public void SetUp()
    {
        Pool = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes });
        ClassicAllocator = new ClassicAllocator(capacity: 256);
        OnSetUp();
    }

    [GlobalCleanup]
    public void CleanUp()
    {
        OnCleanUp();
        Pool.Dispose();
        ClassicAllocator.Release();
    }

    private protected virtual void OnSetUp()
    {
    }

    private protected virtual void OnCleanUp()
    {
    }

    /// <summary>
    /// Stands for the code that memory is rented for. Being out of the compiler's sight, it keeps owners on the heap, where they are in
    /// programs that pass them on: the compiler of .NET 10 puts an owner on the stack that one method rents, ignores and returns.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Work<T>([Borrowed] T memory)
    {
    }

    private protected static void Use(IMemoryOwner<byte> owner)
    {
        using (owner)
        {
            Work(owner);
        }
    }

    private protected static void Touch(IMemoryOwner<byte> owner)
    {
        using (owner)
        {
            Work(owner);
            PageTouch.Write(owner.Memory.Span);
        }
    }

    private protected static void UseArrayPool(int length, bool touch = false)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        Work(array);
        PageTouch.Write(array.AsSpan(0, touch ? length : 0));
        ArrayPool<byte>.Shared.Return(array);
    }

    private protected static void TouchHGlobal(int length)
    {
        nint memory = Marshal.AllocHGlobal(length);
        PageTouch.Write(memory, length);
        Marshal.FreeHGlobal(memory);
    }
}

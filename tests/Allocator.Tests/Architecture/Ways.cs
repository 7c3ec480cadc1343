namespace Allocator.Tests.Architecture;

/// <summary>
/// What users do, step by step, as <c>docs/architecture.md</c> shows it. <see cref="TracedLibrary"/> compiles this file with the library,
/// so that each step runs over sources that record themselves.
/// </summary>
internal static class Ways
{
    private const int Megabyte = 1024 * 1024;

    /// <summary>Rents 3 MB and returns them.</summary>
    public static void RentOneBlock(Action<Action> record)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions());
        record(() => allocator.Allocate<byte>(3 * Megabyte).Dispose());
    }

    /// <summary>Rents an image of 16 blocks and returns it.</summary>
    public static void RentPixels(Action<Action> record)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions());
        record(() => allocator.AllocatePixels<uint>(4096, 4096).Dispose());
    }

    /// <summary>Awaits 3 MB under a budget that has room, and returns them.</summary>
    public static void AwaitUnderABudget(Action<Action> record)
    {
        using MemoryAllocator allocator = CreateWithBudget();
        record(() =>
        {
            ValueTask<IMemoryOwner<byte>> owner = allocator.AllocateAsync<byte>(3 * Megabyte);
            owner.GetAwaiter().GetResult().Dispose();
        });
    }

    /// <summary>Awaits memory under a budget that has no room, until another owner returns its own.</summary>
    public static void WaitUnderABudget(Action<Action> record)
    {
        using MemoryAllocator allocator = CreateWithBudget();
        record(() =>
        {
            using IMemoryOwner<byte> first = allocator.Allocate<byte>(3 * Megabyte);
            Task<IMemoryOwner<byte>> second = allocator.AllocateAsync<byte>(3 * Megabyte).AsTask();
            first.Dispose();
            second.GetAwaiter().GetResult().Dispose();
        });
    }

    /// <summary>Returns 3 MB and waits for the timer to trim them.</summary>
    public static void Trim(Action<Action> record)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(20) });
        record(() =>
        {
            long before = allocator.GetStatistics().TrimmedBytes;
            allocator.Allocate<byte>(3 * Megabyte).Dispose();
            SpinWait.SpinUntil(() => allocator.GetStatistics().TrimmedBytes > before);
        });
    }

    private static MemoryAllocator CreateWithBudget() =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
}

using Allocator;

namespace PlatformSmoke.Linux;

/// <summary>
/// A 32-bit process has few addresses: its limits, and what happens where they are all taken. In any other process it shows little.
/// </summary>
internal static class AddressSpace
{
    private const int Piece = 64 << 20;

    // More than 32 bits address.
    private const int MostPieces = 96;

    public static void Run(Checks checks)
    {
        checks.Run("space: the default pool retains no more than it may", DefaultPool);
        checks.Run("space: what no address can name is above the limit", Unaddressable);
        foreach (NativeMemoryKind kind in (NativeMemoryKind[])[NativeMemoryKind.Virtual, NativeMemoryKind.Heap, NativeMemoryKind.HGlobal])
        {
            checks.Run($"space: {kind}: until it is refused, and again", () => UntilRefused(kind));
        }

        checks.Run("space: a request is retried while others give back", RetriedMeanwhile);
        checks.Run("space: a pool of a gigabyte in what is left", PoolInWhatIsLeft);
    }

    private static void DefaultPool()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        allocator.AllocateGroup<byte>(100 << 20).Dispose();
        allocator.AllocateGroup<byte>(300 << 20).Dispose();
        using (MemoryGroup<byte> first = allocator.AllocateGroup<byte>(100 << 20))
        using (MemoryGroup<byte> second = allocator.AllocateGroup<byte>(100 << 20))
        {
            first.Fill(1);
            second.Fill(1);
        }

        long retained = allocator.GetStatistics().RetainedBytes;
        Console.WriteLine($"   {retained >> 20} MB retained");
        Checks.That(
            retained > 0 && (IntPtr.Size == sizeof(long) || retained <= 128 << 20), $"at most 128 MB retained, not {retained >> 20}");
        long limit = IntPtr.Size == sizeof(int) ? 1024 : 4096;
        Checks.Throws<MemoryLimitExceededException>(() => allocator.AllocateGroup<byte>((limit + 1) << 20).Dispose());
    }

    private static void Unaddressable()
    {
        if (IntPtr.Size == sizeof(long))
        {
            return;
        }

        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 8192 });
        foreach (long length in (long[])[2L << 30, 3L << 30, 4L << 30, (4L << 30) + 4096, 6L << 30])
        {
            try
            {
                allocator.AllocateGroup<byte>(length, 1, AllocationOptions.Contiguous).Dispose();
                Checks.That(false, $"a refusal of {length} bytes");
            }
            catch (MemoryLimitExceededException refusal)
            {
                Checks.That(!refusal.IsTransient, "a refusal for good");
            }
        }

        Checks.That(allocator.GetStatistics() is { OutstandingAllocations: 0, RentedBytes: 0, AllocationRetries: 0 }, "nothing was tried");
    }

    private static void UntilRefused(NativeMemoryKind kind)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { NativeMemory = kind });
        for (int round = 0; round < 2; round++)
        {
            Stack<IDisposable> held = Take(allocator, Piece);
            Console.WriteLine($"   {held.Count} pieces of 64 MB");
            MemoryAllocatorStatistics full = allocator.GetStatistics();
            Checks.That(full.OutstandingAllocations == held.Count, $"{held.Count} outstanding: {full}");
            Checks.That(IntPtr.Size == sizeof(long) || held.Count < MostPieces, "a refusal");
            Return(held);
            allocator.ReleaseRetainedResources();
            Checks.That(
                allocator.GetStatistics() is { OutstandingAllocations: 0, RentedBytes: 0, CommittedBytes: 0 },
                $"all is back: {allocator.GetStatistics()}");
        }
    }

    private static void RetriedMeanwhile()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        Stack<IDisposable> held = Take(allocator, Piece);
        using (new Timer(_ => ReturnTwo(held), null, 60, Timeout.Infinite))
        {
            allocator.AllocateGroup<byte>(Piece, 1, AllocationOptions.Contiguous).Dispose();
        }

        Return(held);
    }

    private static void PoolInWhatIsLeft()
    {
        using MemoryAllocator eater = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        Stack<IDisposable> held = Take(eater, Piece / 2);
        ReturnTwo(held);
        using (MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 1024 }))
        {
            List<IMemoryOwner<byte>> blocks = [];
            try
            {
                while (blocks.Count < 8)
                {
                    blocks.Add(allocator.Allocate<byte>(4 << 20));
                    blocks[blocks.Count - 1].Memory.Span[0] = 1;
                }
            }
            finally
            {
                blocks.ForEach(static block => block.Dispose());
            }

            Checks.That(allocator.GetStatistics().RetainedBytes > 0, "some of it pooled");
        }

        Return(held);
    }

    private static Stack<IDisposable> Take(MemoryAllocator allocator, int piece)
    {
        Stack<IDisposable> held = new();
        try
        {
            while (held.Count < MostPieces * (Piece / piece))
            {
                held.Push(allocator.AllocateGroup<byte>(piece, 1, AllocationOptions.Contiguous));
            }
        }
        catch (OutOfMemoryException)
        {
        }

        return held;
    }

    private static void ReturnTwo(Stack<IDisposable> held)
    {
        held.Pop().Dispose();
        held.Pop().Dispose();
    }

    private static void Return(Stack<IDisposable> held)
    {
        while (held.Count > 0)
        {
            held.Pop().Dispose();
        }
    }
}

using System.Collections.Concurrent;
using Allocator;

namespace ContractSuite;

/// <summary>Every block that is out is one that the user was told of, and where blocks are kept it is told of once.</summary>
internal static class RegistrationContract
{
    private const int Block = 4 << 20;
    private const int Blocks = 8;

    public static void HooksAreInStep(NativeMemoryKind kind) => Run(kind, keepBlocks: false);

    public static void BlocksAreKept(NativeMemoryKind kind) => Run(kind, keepBlocks: true);

    private static void Run(NativeMemoryKind kind, bool keepBlocks)
    {
        ConcurrentDictionary<nint, long> registered = new();
        ConcurrentQueue<string> errors = new();
        ConcurrentQueue<nint> commits = new();
        MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            NativeMemory = kind,
            MaximumPoolSizeMegabytes = Blocks * (Block >> 20),
            KeepBlocks = keepBlocks,
            BlockCommitted = (address, length) =>
            {
                commits.Enqueue(address);
                Note(registered.TryAdd(address, length) && length == Block, "committed once");
            },
            BlockReleasing = (address, length) => Note(registered.TryRemove(address, out long bytes) && bytes == length, "released once"),
        });
        allocator.Prewarm(Blocks * Block);
        Parallel.For(0, 8, new ParallelOptions { MaxDegreeOfParallelism = 4 }, i =>
        {
            for (int round = 0; round < 50; round++)
            {
                using (IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000))
                {
                    Note(IsRegistered(owner), "a rented block that is registered");
                }

                if (round % 10 == i)
                {
                    allocator.ReleaseRetainedResources();
                }
            }
        });
        allocator.ReleaseRetainedResources();
        int left = registered.Count;
        allocator.Dispose();
        Checks.That(errors.IsEmpty, string.Join(", ", errors));
        Checks.That(left == (keepBlocks ? Blocks : 0) && registered.IsEmpty, $"none registered in the end, and {left} before that");
        Checks.That(!keepBlocks || commits.Count == Blocks, $"{Blocks} commits, there were {commits.Count}");

        void Note(bool condition, string expectation)
        {
            if (!condition)
            {
                errors.Enqueue(expectation);
            }
        }

        unsafe bool IsRegistered(IMemoryOwner<byte> owner)
        {
            using MemoryHandle pin = owner.Memory.Pin();
            return registered.ContainsKey((nint)pin.Pointer);
        }
    }
}

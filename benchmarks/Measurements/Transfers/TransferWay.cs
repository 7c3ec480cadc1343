namespace Measurements.Transfers;

/// <summary>A way to get memory for a transfer.</summary>
internal sealed class TransferWay(string name, bool bounces, Func<int, TransferBuffer> allocate)
{
    /// <summary>The name of the way that is the document's starting point: unaligned memory, and a copy for it.</summary>
    public const string HeapWithBounce = "heap + bounce";

    private const int ArrayThreshold = 1 << 20;
    private const int BlockBytes = 4 << 20;

    public string Name { get; } = name;

    /// <summary>Gets a value indicating whether the file is read into a bounce buffer, and copied from there.</summary>
    public bool Bounces { get; } = bounces;

    /// <summary>Gets the smallest transfer, in bytes, in which this way differs from the others.</summary>
    public int LeastBytes { get; private init; }

    /// <summary>Gets the largest transfer, in bytes, in which this way differs from the others.</summary>
    public int MostBytes { get; private init; } = int.MaxValue;

    /// <summary>
    /// Lists the ways, the pool's first, that the others are compared with. <paramref name="leastAlignment"/> is what direct reads accept,
    /// in bytes: where the heap's own alignment is enough, one way reads into its memory without a copy.
    /// </summary>
    public static IReadOnlyList<TransferWay> List(MemoryAllocator allocator, int leastAlignment)
    {
        int page = Environment.SystemPageSize;
        List<TransferWay> ways =
        [
            // Up to 1 MiB a request without an alignment gets an array: asked for more, it gets a block, of which it uses the beginning.
            new("pool", false, bytes => bytes <= ArrayThreshold
                ? new OwnedBuffer(allocator.Allocate<byte>(ArrayThreshold + 1), bytes)
                : new GroupBuffer(allocator.AllocateGroup<byte>(bytes))),
            new("pool, AllocateAligned", false, bytes => new OwnedBuffer(allocator.AllocateAligned<byte>(bytes, page), bytes))
            {
                MostBytes = ArrayThreshold,
            },
            new("pool, contiguous", false, bytes => new GroupBuffer(allocator.AllocateGroup<byte>(bytes, 1, AllocationOptions.Contiguous)))
            {
                LeastBytes = BlockBytes + 1,
            },
            new("heap, page-aligned", false, bytes => Allocate(new MemorySource.AlignedHeap(page), bytes)),
            new(PageMemory.CallName, false, static bytes => Allocate(default(MemorySource.Pages), bytes)),
            new(HeapWithBounce, true, static bytes => Allocate(default(MemorySource.Heap), bytes)),
            new("GC array + bounce", true, static bytes => new ArrayBuffer(GC.AllocateUninitializedArray<byte>(bytes, pinned: true))),
        ];
        if (leastAlignment <= 2 * IntPtr.Size)
        {
            ways.Add(new TransferWay("heap, as it comes", false, static bytes => Allocate(default(MemorySource.Heap), bytes)));
        }

        return ways;
    }

    /// <summary>
    /// Lists the ways to read into locked memory, the one first that the others are compared with: blocks of <paramref name="keeping"/>,
    /// which locks each once, and memory that is locked for each transfer.
    /// </summary>
    public static IReadOnlyList<TransferWay> ListLocked(MemoryAllocator keeping, MemoryAllocator allocator) =>
    [
        new("pool, locked once", false, bytes => new GroupBuffer(keeping.AllocateGroup<byte>(bytes))),
        new("pool, locked each time", false, bytes => new LockedBuffer(new GroupBuffer(allocator.AllocateGroup<byte>(bytes)))),
        new(
            $"{PageMemory.CallName}, locked each time",
            false,
            static bytes => new LockedBuffer(Allocate(default(MemorySource.Pages), bytes))),
        new("pool, not locked", false, bytes => new GroupBuffer(allocator.AllocateGroup<byte>(bytes))),
    ];

    public TransferBuffer Allocate(int bytes) => allocate(bytes);

    private static NativeBuffer Allocate<TSource>(TSource source, int bytes)
        where TSource : struct, IMemorySource<HeldAddress>
    {
        HeldAddress held = source.Allocate(bytes);
        return new NativeBuffer(held, bytes, () => source.Free(held, bytes));
    }

    private sealed class NativeBuffer(HeldAddress held, int bytes, Action free) : TransferBuffer
    {
        public override Span<byte> GetSegment(int index) => held.GetBytes(bytes);

        public override void Dispose() => free();
    }

    private sealed class OwnedBuffer(IMemoryOwner<byte> owner, int bytes) : TransferBuffer
    {
        public override Span<byte> GetSegment(int index) => owner.Memory.Span[..bytes];

        public override void Dispose() => owner.Dispose();
    }

    private sealed class GroupBuffer(MemoryGroup<byte> group) : TransferBuffer
    {
        public override int SegmentCount => group.Count;

        public override Span<byte> GetSegment(int index) => group[index].Span;

        public override void Dispose() => group.Dispose();
    }

    private sealed class ArrayBuffer(byte[] array) : TransferBuffer
    {
        public override Span<byte> GetSegment(int index) => array;

        // The collector takes the array back when it comes to it: its work falls on the next allocation.
        public override void Dispose()
        {
        }
    }
}

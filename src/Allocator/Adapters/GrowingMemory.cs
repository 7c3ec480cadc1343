using System.Runtime.ExceptionServices;

namespace Allocator.Adapters;

/// <summary>
/// Memory that grows block by block, small ones first, so that nothing is ever moved. The length of an array is a power of two, whatever
/// was asked for. Above arrays, a block smaller than the largest would take as much memory.
/// </summary>
internal sealed class GrowingMemory(MemoryAllocator allocator, int largestArray, int largestBlock, long allocationLimit, long budget)
    : StreamMemory
{
    // A page: most callers that write in steps write about that much at once.
    private const int FirstBlock = 4096;

    private readonly List<Block> _blocks = [];

    // The bytes of all blocks, including parts that are not the stream's: more than the capacity.
    private long _held;

    // The most that the capacity can become.
    private long LargestCapacity => budget - (_held - Capacity);

    // Checked before any block is taken: otherwise the blocks would take all there is, and then wait for what the stream itself has.
    public override void ThrowIfHopeless(long capacity)
    {
        if (capacity > LargestCapacity)
        {
            throw MemoryLimitExceededException.ForBudget(capacity, budget);
        }

        if (capacity - Capacity > allocationLimit)
        {
            Throw.LimitExceeded(capacity - Capacity, allocationLimit);
        }

        long rounded = CapacityFor(capacity, withReserve: false);
        if (rounded > LargestCapacity)
        {
            throw MemoryLimitExceededException.ForBudget(rounded, budget);
        }

        // Without a budget the blocks would take all that the container has, from others too. The allocation itself checks a single block.
        if (capacity - Capacity > largestBlock)
        {
            allocator.Settings.ThrowIfLargerThanContainer(rounded);
        }
    }

    public override void Grow(long capacity, bool clean = false, bool withReserve = false)
    {
        ThrowIfHopeless(capacity);
        withReserve &= CapacityFor(capacity, withReserve: true) <= LargestCapacity;
        int kept = _blocks.Count;
        try
        {
            while (Capacity < capacity)
            {
                Add(NextLength(Capacity, capacity, withReserve), clean);
            }
        }
        catch
        {
            RemoveFrom(kept);
            throw;
        }
    }

    public override void Shrink(long length)
    {
        int first = _blocks.Count;
        while (first > 0 && StartOf(first - 1) >= length)
        {
            first--;
        }

        RemoveFrom(first);
    }

    // As large as the block that it may become. It must fit beside the stream's own memory: otherwise it would wait for that.
    public override IMemoryOwner<byte> RentApart(int length)
    {
        long capacity = Capacity + length;
        ThrowIfHopeless(capacity);
        bool withReserve = CapacityFor(capacity, withReserve: true) <= LargestCapacity;
        int block = NextLength(Capacity, capacity, withReserve);
        long rounded = Math.Min((length + block - 1L) / block * block, Math.Min(allocationLimit, int.MaxValue));
        return allocator.Allocate<byte>((int)rounded);
    }

    public override void Append(long position, IMemoryOwner<byte> apart, int offset)
    {
        Shrink(position);
        ForgetBlock();
        if (_blocks.Count > 0)
        {
            _blocks[_blocks.Count - 1] = _blocks[_blocks.Count - 1] with { End = position };
        }

        Capacity = position;
        Add(apart, offset);
    }

    public override void Dispose() => RemoveFrom(0);

    protected override Memory<byte> Find(long position, out long start)
    {
        int low = 0;
        int high = _blocks.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_blocks[middle].End <= position)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        // The target of the copy may meanwhile dispose this stream, or make it shorter.
        Throw.IfDisposed(low >= _blocks.Count, nameof(PooledMemoryStream));
        Block block = _blocks[low];
        start = StartOf(low);
        return block.Owner.Memory.Slice(block.Offset, (int)(block.End - start));
    }

    private long StartOf(int index) => index == 0 ? 0 : _blocks[index - 1].End;

    // The bytes of all blocks together once there is room for this capacity.
    private long CapacityFor(long capacity, bool withReserve)
    {
        long total = Capacity;
        while (total < capacity)
        {
            int length = NextLength(total, capacity, withReserve);
            total += Math.Max(1, (capacity - total) / length) * length;
        }

        return total;
    }

    private int NextLength(long present, long capacity, bool withReserve)
    {
        long wanted = withReserve ? Math.Max(capacity - present, present) : capacity - present;
        if (wanted > Math.Min(largestArray, largestBlock))
        {
            return largestBlock;
        }

        int length = Math.Min(FirstBlock, largestBlock);
        while (length < wanted)
        {
            length *= 2;
        }

        return Math.Min(length, largestBlock);
    }

    private void Add(int length, bool clean)
    {
        IMemoryOwner<byte> block = allocator.Allocate<byte>(length, clean ? AllocationOptions.Clean : AllocationOptions.None);
        try
        {
            Add(block, 0);
        }
        catch
        {
            block.Dispose();
            throw;
        }
    }

    private void Add(IMemoryOwner<byte> owner, int offset)
    {
        int length = owner.Memory.Length;
        long end = Capacity + length - offset;
        _blocks.Add(new Block(owner, length, offset, end));
        _held += length;
        Capacity = end;
    }

    private void RemoveFrom(int first)
    {
        ForgetBlock();
        Capacity = StartOf(first);
        ExceptionDispatchInfo? finding = null;
        for (int i = _blocks.Count - 1; i >= first; i--)
        {
            Block block = _blocks[i];
            _blocks.RemoveAt(i);
            _held -= block.Length;
            try
            {
                block.Owner.Dispose();
            }
            catch (MemoryCorruptedException e)
            {
                // The others still go back.
                finding ??= ExceptionDispatchInfo.Capture(e);
            }
        }

        finding?.Throw();
    }

    /// <summary>A part of the stream: memory, its length, the offset of its first byte there, and its end in the stream.</summary>
    private readonly record struct Block(IMemoryOwner<byte> Owner, int Length, int Offset, long End);
}

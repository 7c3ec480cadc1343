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

    // The charge for all blocks, including parts that are not the stream's: at least the capacity.
    private long _heldBytes;

    /// <summary>How growth is divided into blocks. Each takes no more memory than the one before it.</summary>
    private enum Division
    {
        /// <summary>Doubles, because more will follow.</summary>
        WithReserve,

        /// <summary>Few blocks, the last one rounded up.</summary>
        Few,

        /// <summary>As many blocks as it takes to need no more than whole pages.</summary>
        Exact,
    }

    // Only the last block can be apart from the stream.
    public override long ApartFrom => StartOf(_blocks.Count - 1);

    // The most that the capacity can become.
    private long LargestCapacity => budget - (_heldBytes - Capacity);

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

        long needed = CapacityFor(capacity, Division.Exact);
        if (needed > LargestCapacity)
        {
            throw MemoryLimitExceededException.ForBudget(capacity, budget);
        }

        // Otherwise, without a budget, the blocks would take all memory of the container, at the cost of others. The allocation itself
        // checks a single block.
        if (capacity - Capacity > largestBlock)
        {
            allocator.Settings.ThrowIfLargerThanContainer(needed, capacity);
        }
    }

    public override void Grow(long capacity, bool clean = false, bool withReserve = false)
    {
        ThrowIfHopeless(capacity);
        Division division = withReserve ? Division.WithReserve : Division.Few;
        while (division < Division.Exact && !Fits(capacity, division))
        {
            division++;
        }

        int kept = _blocks.Count;
        try
        {
            while (Capacity < capacity)
            {
                Add(NextLength(Capacity, capacity, division), clean ? AllocationOptions.Clean : AllocationOptions.None);
            }
        }
        catch
        {
            RemoveFrom(kept);
            throw;
        }
    }

    public override void Shrink(long length) => RemoveFrom(FirstBehind(length));

    public override Memory<byte> Apart(long position, int length)
    {
        Block? last = _blocks.Count == 0 ? null : _blocks[_blocks.Count - 1];
        if (last is null || ApartFrom < position || last.Value.Owner.Memory.Length < length)
        {
            int first = FirstBehind(position);
            long left = budget - _heldBytes;
            for (int i = first; i < _blocks.Count; i++)
            {
                left += _blocks[i].Charge;
            }

            int apart = LengthApart(StartOf(first), length, left, out bool isExact);
            RemoveFrom(first);
            Add(apart, AllocationOptions.None, isExact);
        }

        return _blocks[_blocks.Count - 1].Owner.Memory;
    }

    public override void Join(long position)
    {
        Debug.Assert(position <= ApartFrom, "The block lies behind the position.");
        ForgetBlock();
        int last = _blocks.Count - 1;
        int first = FirstBehind(position);
        if (first > 0)
        {
            _blocks[first - 1] = _blocks[first - 1] with { End = position };
        }

        Capacity = position + _blocks[last].Owner.Memory.Length;
        _blocks[last] = _blocks[last] with { End = Capacity };
        Remove(first, last);
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
        return block.Owner.Memory.Slice(0, (int)(block.End - start));
    }

    private long StartOf(int index) => index <= 0 ? 0 : _blocks[index - 1].End;

    // The first block that is wholly behind a position.
    private int FirstBehind(long position)
    {
        int first = _blocks.Count;
        while (first > 0 && StartOf(first - 1) >= position)
        {
            first--;
        }

        return first;
    }

    private bool Fits(long capacity, Division division)
    {
        long needed = CapacityFor(capacity, division);
        return needed <= LargestCapacity && (needed - Capacity <= largestBlock || needed <= allocator.Settings.LargestInContainerBytes);
    }

    // The bytes of all blocks together once there is room for this capacity.
    private long CapacityFor(long capacity, Division division)
    {
        long total = Capacity;
        while (total < capacity)
        {
            int length = NextLength(total, capacity, division);
            total += Math.Max(1, (capacity - total) / length) * length;
        }

        return total;
    }

    private int NextLength(long present, long capacity, Division division)
    {
        long wanted = division == Division.WithReserve ? Math.Max(capacity - present, present) : capacity - present;
        int largest = Math.Min(largestArray, largestBlock);
        bool isExact = division == Division.Exact;
        if (wanted >= largestBlock || (wanted > largest && !isExact))
        {
            return largestBlock;
        }

        int length = Math.Min(FirstBlock, isExact ? largest : largestBlock);
        while (isExact ? length < largest && length * 2L <= wanted : length < wanted)
        {
            length *= 2;
        }

        return Math.Min(length, largestBlock);
    }

    // Whole blocks if they fit together with the stream's own memory; otherwise it would wait for itself.
    private int LengthApart(long present, int length, long left, out bool isExact)
    {
        if (length > allocationLimit)
        {
            Throw.LimitExceeded(length, allocationLimit);
        }

        int block = NextLength(present, present + length, Division.WithReserve);
        int rounded = (int)Math.Min((length + block - 1L) / block * block, Math.Min(allocationLimit, int.MaxValue));
        isExact = ChargeFor(rounded, isExact: false) > left;
        if (isExact && ChargeFor(length, isExact: true) > left)
        {
            throw MemoryLimitExceededException.ForBudget(budget - left + length, budget);
        }

        return isExact ? length : rounded;
    }

    private long ChargeFor(int length, bool isExact) => budget == long.MaxValue ? length : allocator.ChargeFor(length, isExact);

    private void Add(int length, AllocationOptions options, bool isExact = false)
    {
        long charge = ChargeFor(length, isExact);
        IMemoryOwner<byte> block = allocator.AllocateForAdapter<byte>(length, options, isExact);
        try
        {
            _blocks.Add(new Block(block, charge, Capacity + length));
        }
        catch
        {
            block.Dispose();
            throw;
        }

        _heldBytes += charge;
        Capacity += length;
    }

    private void RemoveFrom(int first)
    {
        ForgetBlock();
        Capacity = StartOf(first);
        Remove(first, _blocks.Count);
    }

    private void Remove(int first, int end)
    {
        ExceptionDispatchInfo? finding = null;
        for (int i = end - 1; i >= first; i--)
        {
            Block block = _blocks[i];
            _blocks.RemoveAt(i);
            _heldBytes -= block.Charge;
            try
            {
                block.Owner.Dispose();
            }
            catch (MemoryCorruptedException e)
            {
                // The others are still returned.
                finding ??= ExceptionDispatchInfo.Capture(e);
            }
        }

        finding?.Throw();
    }

    /// <summary>A part of the stream: memory, what it is charged with, and its end in the stream.</summary>
    private readonly record struct Block(IMemoryOwner<byte> Owner, long Charge, long End);
}

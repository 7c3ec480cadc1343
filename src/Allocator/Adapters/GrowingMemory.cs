using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.ExceptionServices;

namespace Allocator.Adapters;

/// <summary>Memory that grows block by block, small ones first, so that nothing is ever moved.</summary>
internal sealed class GrowingMemory : StreamMemory
{
    // A page, and what most who write in steps write at once.
    private const int FirstBlock = 4096;

    private readonly MemoryAllocator _allocator;
    private readonly int _largestArray;
    private readonly int _largestBlock;
    private readonly long _allocationLimit;
    private readonly long _budget;
    private readonly List<IMemoryOwner<byte>> _blocks = [];

    // Where each block ends, in the stream.
    private readonly List<long> _ends = [];

    // An array has a power of two, whatever was asked for; above arrays a smaller block than the largest would take as much.
    public GrowingMemory(MemoryAllocator allocator, int largestArray, int largestBlock, long allocationLimit, long budget)
    {
        _allocator = allocator;
        _largestArray = largestArray;
        _largestBlock = largestBlock;
        _allocationLimit = allocationLimit;
        _budget = budget;
    }

    // Before any block is taken: one after the other they would take all that there is, and then wait for what the stream has itself.
    public override void ThrowIfHopeless(long capacity)
    {
        if (capacity > _budget)
        {
            throw MemoryLimitExceededException.ForBudget(capacity, _budget);
        }

        if (capacity - Capacity > _allocationLimit)
        {
            Throw.LimitExceeded(capacity - Capacity, _allocationLimit);
        }

        long rounded = CapacityFor(capacity, withReserve: false);
        if (rounded > _budget)
        {
            throw MemoryLimitExceededException.ForBudget(rounded, _budget);
        }
    }

    public override void Grow(long capacity, bool clean = false, bool withReserve = false)
    {
        ThrowIfHopeless(capacity);
        withReserve &= CapacityFor(capacity, withReserve: true) <= _budget;
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

    public override IMemoryOwner<byte> RentApart(int length)
    {
        // It would wait for what the stream has itself.
        if (length > _budget - Capacity)
        {
            throw MemoryLimitExceededException.ForBudget(Capacity + length, _budget);
        }

        return _allocator.Allocate<byte>(length);
    }

    public override void Dispose() => RemoveFrom(0);

    protected override Memory<byte> Find(long position, out long start)
    {
        int index = _ends.BinarySearch(position + 1);
        index = index < 0 ? ~index : index;

        // What is copied to may dispose this stream meanwhile, or make it shorter.
        if (index >= _blocks.Count)
        {
            Throw.Disposed(nameof(PooledMemoryStream));
        }

        start = StartOf(index);
        return _blocks[index].Memory;
    }

    private long StartOf(int index) => index == 0 ? 0 : _ends[index - 1];

    // What the blocks have together when there is room for so much.
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
        if (wanted > Math.Min(_largestArray, _largestBlock))
        {
            return _largestBlock;
        }

        int length = Math.Min(FirstBlock, _largestBlock);
        while (length < wanted)
        {
            length *= 2;
        }

        return Math.Min(length, _largestBlock);
    }

    private void Add(int length, bool clean)
    {
        IMemoryOwner<byte> block = _allocator.Allocate<byte>(length, clean ? AllocationOptions.Clean : AllocationOptions.None);
        try
        {
            _blocks.Add(block);
            _ends.Add(Capacity + length);
        }
        catch
        {
            // Of a list that could not grow: the other one may be longer by now.
            if (_blocks.Count > _ends.Count)
            {
                _blocks.RemoveAt(_blocks.Count - 1);
            }

            block.Dispose();
            throw;
        }

        Capacity += length;
    }

    private void RemoveFrom(int first)
    {
        if (first == _blocks.Count)
        {
            return;
        }

        ForgetBlock();
        Capacity = StartOf(first);
        ExceptionDispatchInfo? finding = null;
        for (int i = _blocks.Count - 1; i >= first; i--)
        {
            IMemoryOwner<byte> block = _blocks[i];
            _blocks.RemoveAt(i);
            _ends.RemoveAt(i);
            try
            {
                block.Dispose();
            }
            catch (MemoryCorruptedException e)
            {
                // The others go back all the same.
                finding ??= ExceptionDispatchInfo.Capture(e);
            }
        }

        finding?.Throw();
    }
}

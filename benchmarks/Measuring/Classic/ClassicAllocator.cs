namespace Measuring.Classic;

/// <summary>The model's entry point: what fits a block comes from the pool, what does not from the heap.</summary>
public sealed class ClassicAllocator
{
    private readonly ClassicPool _pool;

    public ClassicAllocator(int capacity) => _pool = new ClassicPool(4 << 20, capacity);

    public unsafe IMemoryOwner<T> Allocate<T>(int length)
        where T : unmanaged
    {
        long bytes = (long)length * sizeof(T);
        nint block = bytes <= _pool.BlockSizeInBytes ? _pool.Rent() : 0;
        ClassicGuard guard = block != 0
            ? new ClassicBlockGuard(_pool, block)
            : new ClassicHeapGuard(block = Marshal.AllocHGlobal((nint)bytes));
        return new ClassicBuffer<T>(block, length, guard);
    }

    /// <summary>Allocates a discontiguous buffer of <paramref name="height"/> rows of <paramref name="width"/> elements.</summary>
    public ClassicGroup<T> AllocateRows<T>(int width, int height)
        where T : unmanaged
        => ClassicGroup<T>.Allocate(_pool, checked(width * height), width);

    public void Release() => _pool.Release();
}

/// <summary>
/// A model of how imaging pools are classically built, to be measured against: blocks from the process's heap, kept in one array under one
/// lock. It is committed and left alone, so that ratios to it stay comparable from version to version.
/// </summary>
public sealed class ClassicPool
{
    private readonly object _lock = new();
    private readonly nint[] _blocks;
    private int _next;

    /// <summary>
    /// Makes a pool of <paramref name="capacity"/> blocks of <paramref name="blockSizeInBytes"/> bytes, which are allocated when first
    /// rented.
    /// </summary>
    public ClassicPool(int blockSizeInBytes, int capacity)
    {
        BlockSizeInBytes = blockSizeInBytes;
        _blocks = new nint[capacity];
    }

    public int BlockSizeInBytes { get; }

    public nint Rent()
    {
        nint block;
        lock (_lock)
        {
            if (_next == _blocks.Length)
            {
                return 0;
            }

            block = _blocks[_next];
            _blocks[_next++] = 0;
        }

        return block != 0 ? block : Marshal.AllocHGlobal(BlockSizeInBytes);
    }

    /// <summary>Rents as many blocks as <paramref name="blocks"/> has room for, or none and returns false.</summary>
    public bool TryRent(Span<nint> blocks)
    {
        lock (_lock)
        {
            if (_blocks.Length - _next < blocks.Length)
            {
                return false;
            }

            for (int i = 0; i < blocks.Length; i++)
            {
                blocks[i] = _blocks[_next];
                _blocks[_next++] = 0;
            }
        }

        foreach (ref nint block in blocks)
        {
            if (block == 0)
            {
                block = Marshal.AllocHGlobal(BlockSizeInBytes);
            }
        }

        return true;
    }

    public void Return(nint block)
    {
        lock (_lock)
        {
            _blocks[--_next] = block;
        }
    }

    public void Return(ReadOnlySpan<nint> blocks)
    {
        lock (_lock)
        {
            foreach (nint block in blocks)
            {
                _blocks[--_next] = block;
            }
        }
    }

    public void Release()
    {
        lock (_lock)
        {
            for (int i = _next; i < _blocks.Length; i++)
            {
                Marshal.FreeHGlobal(_blocks[i]);
                _blocks[i] = 0;
            }
        }
    }
}

/// <summary>The classic discontiguous buffer: an owner for each block and one guard for all.</summary>
public sealed class ClassicGroup<T> : IDisposable
    where T : unmanaged
{
    private readonly ClassicBuffer<T>[] _members;
    private readonly ClassicGroupGuard _guard;
    private readonly int _elementsPerMember;

    private ClassicGroup(ClassicBuffer<T>[] members, ClassicGroupGuard guard, int elementsPerMember)
    {
        _members = members;
        _guard = guard;
        _elementsPerMember = elementsPerMember;
    }

    /// <summary>
    /// Rents blocks for <paramref name="length"/> elements in rows of <paramref name="rowLength"/>, none of which is split.
    /// </summary>
    public static unsafe ClassicGroup<T> Allocate(ClassicPool pool, int length, int rowLength)
    {
        int perMember = pool.BlockSizeInBytes / sizeof(T) / rowLength * rowLength;
        nint[] blocks = new nint[(length + perMember - 1) / perMember];
        if (!pool.TryRent(blocks))
        {
            throw new OutOfMemoryException("The classic pool has too few blocks left.");
        }

        ClassicGroupGuard guard = new(pool, blocks);
        ClassicBuffer<T>[] members = new ClassicBuffer<T>[blocks.Length];
        for (int i = 0; i < members.Length; i++)
        {
            members[i] = new ClassicBuffer<T>(blocks[i], Math.Min(perMember, length - (i * perMember)), guard);
        }

        return new ClassicGroup<T>(members, guard, perMember);
    }

    public Span<T> GetRow(int y, int rowLength)
    {
        int start = y * rowLength;
        int member = start / _elementsPerMember;
        return _members[member].GetSpan().Slice(start - (member * _elementsPerMember), rowLength);
    }

    public void Dispose()
    {
        foreach (IMemoryOwner<T> member in _members)
        {
            member.Dispose();
        }

        _guard.Dispose();
    }
}

using System;
using System.Buffers;

namespace Measuring.Classic;

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
    /// <exception cref="OutOfMemoryException">The pool has fewer blocks left.</exception>
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

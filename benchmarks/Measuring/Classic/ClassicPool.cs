using System;
using System.Runtime.InteropServices;

namespace Measuring.Classic;

/// <summary>
/// A model of how imaging pools are classically built, to be measured against: blocks from the process's heap, kept in one array
/// under one lock. It is committed and left alone, so that ratios to it stay comparable from version to version.
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

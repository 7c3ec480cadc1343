using System;
using System.Diagnostics;
using Allocator;
using Allocator.Native;
using Decisions.Machines;
using Measuring.Memory;

namespace Decisions.BlockSizes;

/// <summary>A reservation that is committed, written to and purged in blocks of one size.</summary>
internal sealed class BlockRange : IDisposable
{
    private readonly VirtualMemorySource _source;
    private readonly nint _address;
    private readonly int _blockBytes;
    private readonly int _blocks;

    /// <summary>Reserves <paramref name="totalMegabytes"/> MB.</summary>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    public BlockRange(int blockMegabytes, int totalMegabytes, HugePages hugePages)
    {
        BlockMegabytes = blockMegabytes;
        HugePages = hugePages;
        _blockBytes = blockMegabytes * MemorySize.Megabyte;
        _blocks = totalMegabytes / blockMegabytes;
        _source = VirtualMemorySource.Create(hugePages);
        _address = _source.TryReserve((long)_blocks * _blockBytes, _blockBytes);
        if (_address == 0)
        {
            throw new OutOfMemoryException($"The system refused to reserve {totalMegabytes} MB.");
        }
    }

    /// <summary>Gets the size of a block, in MB.</summary>
    public int BlockMegabytes { get; }

    /// <summary>Gets the kind of pages that was asked for.</summary>
    public HugePages HugePages { get; }

    /// <summary>Commits and writes to all blocks, and purges them.</summary>
    /// <returns>Both times, in microseconds a block.</returns>
    public (double FirstTouch, double Purge) Measure()
    {
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < _blocks; i++)
        {
            nint block = _address + ((nint)i * _blockBytes);
            if (!_source.TryCommit(block, _blockBytes, out _))
            {
                throw new OutOfMemoryException($"The system refused {_blockBytes} bytes.");
            }

            PageTouch.Write(block, _blockBytes);
        }

        TimeSpan firstTouch = Stopwatch.GetElapsedTime(start);
        start = Stopwatch.GetTimestamp();
        for (int i = 0; i < _blocks; i++)
        {
            _ = _source.TryPurge(_address + ((nint)i * _blockBytes), _blockBytes);
        }

        return (firstTouch.TotalMicroseconds / _blocks, Stopwatch.GetElapsedTime(start).TotalMicroseconds / _blocks);
    }

    /// <inheritdoc/>
    public void Dispose() => _source.Release(_address, (long)_blocks * _blockBytes);
}

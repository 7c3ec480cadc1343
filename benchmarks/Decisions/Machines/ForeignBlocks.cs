using System;
using Allocator;
using Allocator.Native;
using Measuring.Memory;

namespace Decisions.Machines;

/// <summary>Blocks of memory that no pool knows, mapped like a pool's: purging them loads the machine as a trim does, and stands in no renter's way.</summary>
internal sealed class ForeignBlocks : IDisposable
{
    private readonly VirtualMemorySource _source = VirtualMemorySource.Create(HugePages.Auto);
    private readonly nint _address;
    private readonly int _count;

    /// <summary>Maps <paramref name="count"/> blocks.</summary>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    public ForeignBlocks(int count)
    {
        _count = count;
        _address = _source.TryReserve((long)count * MemorySize.Block, MemorySize.Block);
        if (_address == 0 || !_source.TryCommit(_address, (long)count * MemorySize.Block, out _))
        {
            throw new OutOfMemoryException($"The system refused {count} blocks of {MemorySize.Block} bytes.");
        }
    }

    /// <summary>Makes all of them resident.</summary>
    public void Fill() => PageTouch.Write(_address, (nint)_count * MemorySize.Block);

    /// <summary>Gives all of them back to the system, one after the other.</summary>
    public void Purge()
    {
        for (int i = 0; i < _count; i++)
        {
            _ = _source.TryPurge(_address + ((nint)i * MemorySize.Block), MemorySize.Block);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _source.Release(_address, (long)_count * MemorySize.Block);
}

using System;
using System.Diagnostics;
using Decisions.Machines;
using Measuring.Memory;

namespace Decisions.Purging;

/// <summary>Blocks side by side, as in an arena, that are purged and used again.</summary>
internal sealed class PurgedBlocks : IDisposable
{
    private readonly nint[] _addresses;
    private readonly bool _hugePages;

    /// <summary>Maps <paramref name="count"/> blocks and makes them resident.</summary>
    public PurgedBlocks(int count, bool hugePages)
    {
        _hugePages = hugePages;
        _addresses = new nint[count];
        nint start = LinuxMemory.Map((long)count * MemorySize.Block, hugePages);
        for (int i = 0; i < count; i++)
        {
            _addresses[i] = start + ((nint)i * MemorySize.Block);
        }

        Write();
    }

    /// <summary>Gets the number of blocks.</summary>
    public int Count => _addresses.Length;

    /// <summary>Writes to all pages of all blocks. pre: all may be touched.</summary>
    public void Write()
    {
        foreach (nint address in _addresses)
        {
            PageTouch.Write(address, MemorySize.Block);
        }
    }

    /// <summary>Purges all blocks, or every second, third ...</summary>
    public void Purge(PurgeMethod method, int every = 1)
    {
        for (int i = 0; i < _addresses.Length; i += every)
        {
            method.Purge(_addresses[i], MemorySize.Block, _hugePages);
        }
    }

    /// <summary>Makes the purged blocks usable again, without touching them.</summary>
    public void Ready(PurgeMethod method, int every = 1)
    {
        for (int i = 0; i < _addresses.Length; i += every)
        {
            _addresses[i] = method.Ready(_addresses[i], MemorySize.Block, _hugePages);
        }
    }

    /// <summary>Purges one block after the other and uses it again, over and over, for a while.</summary>
    /// <returns>How many blocks went and came back.</returns>
    public long Cycle(PurgeMethod method, TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        long cycles = 0;
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            ref nint address = ref _addresses[cycles++ % _addresses.Length];
            method.Purge(address, MemorySize.Block, _hugePages);
            address = method.Ready(address, MemorySize.Block, _hugePages);
            PageTouch.Write(address, MemorySize.Block);
        }

        return cycles;
    }

    /// <summary>Writes to one block after the other, all of which stay resident, for a while.</summary>
    public void WriteFor(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        for (long i = 0; Stopwatch.GetElapsedTime(start) < time; i++)
        {
            PageTouch.Write(_addresses[i % _addresses.Length], MemorySize.Block);
        }
    }

    /// <summary>Returns whether every page that was written to before reads as zero. pre: all may be touched.</summary>
    public unsafe bool ReadsZero()
    {
        bool zero = true;
        foreach (nint address in _addresses)
        {
            for (int offset = 0; offset < MemorySize.Block; offset += Environment.SystemPageSize)
            {
                zero &= *(byte*)(address + offset) == 0;
            }
        }

        return zero;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (nint address in _addresses)
        {
            LinuxMemory.Unmap(address, MemorySize.Block);
        }
    }
}

using System;
using System.Threading;
using Decisions.Machines;

namespace Decisions.Trimming;

/// <summary>Tells the collector of blocks of unmanaged memory, and never of fewer than none. Thread-safe.</summary>
internal sealed class CollectorPressure
{
    private int _blocks;

    /// <summary>Tells of one more block.</summary>
    public void Add()
    {
        _ = Interlocked.Increment(ref _blocks);
        GC.AddMemoryPressure(MemorySize.Block);
    }

    /// <summary>Tells of one block less, if it was told of any.</summary>
    public void Remove()
    {
        int blocks = Volatile.Read(ref _blocks);
        while (blocks > 0)
        {
            int seen = Interlocked.CompareExchange(ref _blocks, blocks - 1, blocks);
            if (seen == blocks)
            {
                GC.RemoveMemoryPressure(MemorySize.Block);
                return;
            }

            blocks = seen;
        }
    }
}

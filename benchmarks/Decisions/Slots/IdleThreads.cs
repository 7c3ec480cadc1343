using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Allocator.Pooling;
using Decisions.Machines;
using Measuring.Machines;
using Measuring.Memory;

namespace Decisions.Slots;

/// <summary>Threads that used a pool and now wait for work: what memory do they keep?</summary>
internal static class IdleThreads
{
    /// <summary>Has each thread rent, fill and return some blocks, and looks at the pool while all threads are alive.</summary>
    /// <param name="pool">The pool; disposed afterwards.</param>
    /// <param name="threads">The number of threads.</param>
    /// <param name="held">How many blocks each has at a time.</param>
    /// <param name="atOnce">Whether all have theirs at the same time. Otherwise one thread starts when the one before has returned its blocks.</param>
    public static IdleMemory Measure(BlockPool pool, int threads, int held, bool atOnce)
    {
        using ManualResetEventSlim end = new();
        using Barrier allHold = new(atOnce ? threads : 1);
        using SemaphoreSlim returned = new(0);
        List<Thread> team = [];
        long before = ProcessMemory.ReadResidentOften();
        for (int i = 0; i < threads; i++)
        {
            Thread thread = new(() =>
            {
                BlockGuard[] blocks = [.. Enumerable.Range(0, held).Select(_ => pool.Rent())];
                Array.ForEach(blocks, static block => PageTouch.Write(block.Address, MemorySize.Block));
                allHold.SignalAndWait();
                Array.ForEach(blocks, pool.Return);
                _ = returned.Release();
                end.Wait();
                pool.EndThread();
            })
            { IsBackground = true, Name = $"idle {i}" };
            thread.Start();
            team.Add(thread);
            if (!atOnce)
            {
                returned.Wait();
            }
        }

        for (int i = 0; atOnce && i < threads; i++)
        {
            returned.Wait();
        }

        long resident = ProcessMemory.ReadResidentOften() - before;
        long committed = pool.CommittedBytes;
        IdleMemory memory = new(committed, resident, committed - CountReachable(pool));
        end.Set();
        team.ForEach(static thread => thread.Join());
        pool.Dispose();
        return memory;
    }

    // Another thread rents until the pool has to ask the system: that block does not count.
    private static long CountReachable(BlockPool pool)
    {
        long committed = pool.CommittedBytes;
        List<BlockGuard> blocks = [];
        do
        {
            blocks.Add(pool.Rent());
        }
        while (pool.CommittedBytes == committed);
        blocks.ForEach(pool.Return);
        pool.EndThread();
        return (blocks.Count - 1L) * MemorySize.Block;
    }
}

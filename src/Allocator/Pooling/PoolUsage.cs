using System;
using System.Threading;
using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>What a pool's blocks say about themselves, read at one moment. Bytes are whole blocks.</summary>
internal readonly record struct PoolUsage(long CommittedBytes, long RentedBytes, long QuarantinedBytes, long Outstanding, long Rents)
{
    /// <summary>Gets what the budget still counts of that: the permits that idle blocks have kept.</summary>
    public long AdmittedIdleBytes { get; init; }

    /// <summary>Gets what lies idle. Other threads may have moved on while it was added up: never below zero.</summary>
    public long RetainedBytes => Math.Max(0, CommittedBytes - RentedBytes - QuarantinedBytes);

    public static PoolUsage Read(BlockArena[] arenas)
    {
        long committed = 0;
        long rented = 0;
        long quarantined = 0;
        long outstanding = 0;
        long rents = 0;
        long admittedIdle = 0;
        foreach (BlockArena arena in arenas)
        {
            committed += (long)arena.CommittedCount * arena.BlockSizeInBytes;
            foreach (BlockRecord record in arena.Records)
            {
                rents += Volatile.Read(ref record.Rents);
                long state = Volatile.Read(ref record.State);
                admittedIdle += (state & BlockState.Admitted) == 0 ? 0 : arena.BlockSizeInBytes;
                if (!BlockState.IsIdle(state))
                {
                    long bytes = (long)record.RunLength * arena.BlockSizeInBytes;
                    bool isAbandoned = (state & BlockState.Abandoned) != 0;
                    rented += isAbandoned ? 0 : bytes;
                    quarantined += isAbandoned ? bytes : 0;
                    outstanding += BlockState.IsOutstanding(state) ? 1 : 0;
                }
            }
        }

        return new PoolUsage(committed, rented, quarantined, outstanding, rents) { AdmittedIdleBytes = admittedIdle };
    }
}

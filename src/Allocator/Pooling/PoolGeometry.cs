using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>The fixed sizes of a pool: the size of a block, and the most blocks there may be.</summary>
internal readonly record struct PoolGeometry(int BlockSizeInBytes, int MaximumBlocks)
{
    /// <summary>4 MiB: larger blocks waste more of small images, smaller ones are slower (docs/design/measured.md).</summary>
    public const int DefaultBlockSizeInBytes = 4 * 1024 * 1024;

    private const long Megabyte = 1024 * 1024;

    // 64-bit processes address 47 bits on x64 and 48 on arm64: a larger figure cannot be right.
    private const long AddressSpace = 1L << 48;

    public long MaximumBytes => (long)MaximumBlocks * BlockSizeInBytes;

    /// <summary>Returns the most blocks that a pool may hold, by the options or by the memory available to the process.</summary>
    public static int BlocksWithin(int? megabytes, int blockSizeInBytes, bool is64Bit, long? availableBytes)
    {
        long bytes = megabytes is int given ? given * Megabyte : DefaultBytes(is64Bit, availableBytes);
        return (int)Math.Min(int.MaxValue, bytes / blockSizeInBytes);
    }

    private static long DefaultBytes(bool is64Bit, long? availableBytes) =>
        is64Bit && availableBytes is > 0 and <= AddressSpace ? availableBytes.Value / 8 : 128 * Megabyte;
}

/// <summary>What a pool's blocks report about themselves, read at one moment. Bytes are whole blocks.</summary>
internal readonly record struct PoolUsage(long CommittedBytes, long RentedBytes, long QuarantinedBytes, long Outstanding, long Rents)
{
    /// <summary>Gets the idle bytes. Never below zero, even if other threads moved blocks while they were counted.</summary>
    public long RetainedBytes => Math.Max(0, CommittedBytes - RentedBytes - QuarantinedBytes);

    public static PoolUsage Read(BlockArena[] arenas)
    {
        long committed = 0;
        long rented = 0;
        long quarantined = 0;
        long outstanding = 0;
        long rents = 0;
        foreach (BlockArena arena in arenas)
        {
            committed += (long)arena.CommittedCount * arena.BlockSizeInBytes;
            foreach (BlockRecord record in arena.Records)
            {
                rents += Volatile.Read(ref record.Rents);
                long state = Volatile.Read(ref record.State);
                if (!RentState.IsIdle(state))
                {
                    long bytes = (long)record.RunLength * arena.BlockSizeInBytes;
                    bool isAbandoned = (state & RentState.Abandoned) != 0;
                    rented += isAbandoned ? 0 : bytes;
                    quarantined += isAbandoned ? bytes : 0;
                    outstanding += RentState.IsOutstanding(state) ? 1 : 0;
                }
            }
        }

        return new PoolUsage(committed, rented, quarantined, outstanding, rents);
    }
}

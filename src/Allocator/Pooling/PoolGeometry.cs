using System;

namespace Allocator.Pooling;

/// <summary>The pool's fixed measures: its blocks, and how many there are at most.</summary>
internal readonly record struct PoolGeometry(int BlockSizeInBytes, int MaximumBlocks)
{
    /// <summary>4 MiB, the figure that the source of this design settled on by measuring a load–resize–save job.</summary>
    public const int DefaultBlockSizeInBytes = 4 * 1024 * 1024;

    private const long Megabyte = 1024 * 1024;

    // 64-bit processes address 47 bits on x64 and 48 on arm64: a figure beyond is no figure.
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

using System;

namespace Allocator.Allocators;

/// <summary>Settles how large pools and allocations may be where the options do not say.</summary>
internal static class PoolSizing
{
    private const long Megabyte = 1024 * 1024;

    // 64-bit processes address 47 bits on x64 and 48 on arm64: a figure beyond is no figure.
    private const long AddressSpace = 1L << 48;

    /// <summary>Gives the most blocks that a pool may hold: the size rounded down to whole blocks.</summary>
    /// <param name="megabytes">What the options say; null for the default.</param>
    /// <param name="blockSizeInBytes">The size of a block in bytes.</param>
    /// <param name="is64Bit">Whether the process has 64-bit addresses.</param>
    /// <param name="availableBytes">The memory available to the process, container limits included; null where unknown.</param>
    public static int MaximumBlocks(int? megabytes, int blockSizeInBytes, bool is64Bit, long? availableBytes)
    {
        long bytes = megabytes is int given ? given * Megabyte : DefaultPoolBytes(is64Bit, availableBytes);
        return (int)Math.Min(int.MaxValue, bytes / blockSizeInBytes);
    }

    /// <summary>Gives the largest single allocation in bytes.</summary>
    public static long AllocationLimitBytes(int? megabytes, bool is64Bit) => (megabytes ?? (is64Bit ? 4096 : 1024)) * Megabyte;

    private static long DefaultPoolBytes(bool is64Bit, long? availableBytes) =>
        is64Bit && availableBytes is > 0 and <= AddressSpace ? availableBytes.Value / 8 : 128 * Megabyte;
}

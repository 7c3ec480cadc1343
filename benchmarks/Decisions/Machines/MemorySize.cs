namespace Decisions.Machines;

/// <summary>Units of memory. Tables call 2^20 bytes MB, as the options of the library do.</summary>
internal static class MemorySize
{
    /// <summary>One MB, in bytes.</summary>
    public const int Megabyte = 1 << 20;

    /// <summary>The size of a pool block, in bytes.</summary>
    public const int Block = 4 * Megabyte;

    /// <summary>Returns bytes in MB.</summary>
    public static double ToMegabytes(double bytes) => bytes / Megabyte;
}

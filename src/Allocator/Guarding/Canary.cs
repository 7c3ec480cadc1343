namespace Allocator.Guarding;

/// <summary>
/// A pattern for memory that must not be written to. It is derived from the address, so that no copy of a neighbour's memory, and no
/// constant, looks like it.
/// </summary>
internal static unsafe class Canary
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    /// <summary>Writes the pattern.</summary>
    public static void Fill(nint address, long lengthInBytes)
    {
        byte* end = (byte*)address + lengthInBytes;
        for (byte* at = (byte*)address; at < end; at++)
        {
            *at = PatternOf(at);
        }
    }

    /// <summary>Finds the first byte that no longer has the pattern. Returns -1 if there is none.</summary>
    public static long FindBroken(nint address, long lengthInBytes)
    {
        byte* start = (byte*)address;
        long offset = 0;
        while (offset < lengthInBytes && start[offset] == PatternOf(start + offset))
        {
            offset++;
        }

        return offset < lengthInBytes ? offset : -1;
    }

    private static byte PatternOf(byte* at)
    {
        ulong mixed = ((ulong)at & ~7UL) * Multiplier;
        return (byte)((mixed ^ (mixed >> 29)) >> (8 * (int)((ulong)at & 7)));
    }
}

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
        byte* at = (byte*)address;
        byte* end = at + lengthInBytes;
        while (at < end)
        {
            byte* word = (byte*)((long)at & -8);
            if (at == word && end - at >= sizeof(ulong))
            {
                *(ulong*)at = PatternOf(word);
                at += sizeof(ulong);
            }
            else
            {
                ulong pattern = PatternOf(word);
                *at = ((byte*)&pattern)[at - word];
                at++;
            }
        }
    }

    /// <summary>Finds the first byte that no longer has the pattern. Returns -1 if there is none.</summary>
    public static long FindBroken(nint address, long lengthInBytes)
    {
        byte* start = (byte*)address;
        byte* at = start;
        byte* end = at + lengthInBytes;
        while (at < end)
        {
            byte* word = (byte*)((long)at & -8);
            ulong pattern = PatternOf(word);
            if (at == word && end - at >= sizeof(ulong) && *(ulong*)at == pattern)
            {
                at += sizeof(ulong);
            }
            else if (*at == ((byte*)&pattern)[at - word])
            {
                at++;
            }
            else
            {
                return at - start;
            }
        }

        return -1;
    }

    private static ulong PatternOf(byte* word)
    {
        ulong mixed = (ulong)word * Multiplier;
        return mixed ^ (mixed >> 29);
    }
}

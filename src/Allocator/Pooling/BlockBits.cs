using System.Numerics;

namespace Allocator.Pooling;

/// <summary>64 bits on their own cache lines, one for each block of an arena, and the search for runs of blocks in them.</summary>
[StructLayout(LayoutKind.Explicit, Size = 256)]
internal struct BlockBits
{
    [FieldOffset(128)]
    public long Value;

    /// <summary>Returns a mask of the lowest <paramref name="length"/> bits, 1 to 64.</summary>
    public static ulong Mask(int length)
    {
        Debug.Assert(length is >= 1 and <= 64);
        return ulong.MaxValue >> (64 - length);
    }

    /// <summary>Returns how many bits in a row are set, beginning at <paramref name="first"/>.</summary>
    public static int LengthAt(ulong bits, int first)
    {
        ulong from = bits >> first;
        return from == ulong.MaxValue ? 64 : BitOperations.TrailingZeroCount(~from);
    }

    /// <summary>Returns the lowest <paramref name="count"/> of the set bits, or all if there are fewer.</summary>
    public static ulong Lowest(ulong bits, int count)
    {
        ulong lowest = 0;
        while (count > 0 && bits != 0)
        {
            // Run by run: most often the first is enough.
            int first = BitOperations.TrailingZeroCount(bits);
            int length = Math.Min(count, LengthAt(bits, first));
            ulong run = Mask(length) << first;
            lowest |= run;
            bits &= ~run;
            count -= length;
        }

        return lowest;
    }

    /// <summary>
    /// Finds the place for a run that needs the least new memory. Among equal places it takes the smallest hole, so that large holes stay
    /// whole, and the highest blocks of that hole, away from single blocks.
    /// </summary>
    /// <returns>The number of the first block; -1 if there is no such run.</returns>
    public static int FindBest(ulong free, ulong resident, int length, out int residentCount)
    {
        int best = FindReady(free, free & resident, length);
        if (best >= 0)
        {
            residentCount = length;
            return best;
        }

        int bestHole = 0;
        residentCount = -1;
        int position = 0;
        while (NextHole(free, ref position, out int hole))
        {
            for (int first = position + hole - length; first >= position; first--)
            {
                int count = BitOperations.PopCount(resident & (Mask(length) << first));
                if (count > residentCount || (count == residentCount && hole < bestHole))
                {
                    best = first;
                    bestHole = hole;
                    residentCount = count;
                }
            }

            position += hole;
        }

        return best;
    }

    /// <summary>As <see cref="FindBest"/>, if no new memory is needed; otherwise -1.</summary>
    public static int FindReady(ulong free, ulong ready, int length)
    {
        ulong firsts = FirstsOfRuns(ready, length);
        return firsts == 0 ? -1 : LastInSmallestHole(free, firsts);
    }

    // Returns the bits that begin a run of at least that length.
    private static ulong FirstsOfRuns(ulong bits, int length)
    {
        // A set bit says that a run of set bits begins there. Each step doubles the length of the run.
        int stoodFor = 1;
        while (stoodFor < length && bits != 0)
        {
            int step = Math.Min(stoodFor, length - stoodFor);
            bits &= bits >> step;
            stoodFor += step;
        }

        return bits;
    }

    private static int LastInSmallestHole(ulong free, ulong candidates)
    {
        int best = -1;
        int bestHole = int.MaxValue;
        int position = 0;
        while (NextHole(free, ref position, out int hole))
        {
            ulong inHole = candidates & (Mask(hole) << position);
            if (inHole != 0 && hole < bestHole)
            {
                best = 63 - BitOperations.LeadingZeroCount(inHole);
                bestHole = hole;
            }

            position += hole;
        }

        return best;
    }

    // Moves the position to the beginning of the next run of free bits.
    private static bool NextHole(ulong free, ref int position, out int length)
    {
        length = 0;
        ulong rest = position < 64 ? free >> position : 0;
        if (rest == 0)
        {
            return false;
        }

        int skipped = BitOperations.TrailingZeroCount(rest);
        position += skipped;
        length = LengthAt(rest, skipped);
        return true;
    }
}

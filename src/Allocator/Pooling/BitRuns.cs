using System.Numerics;

namespace Allocator.Pooling;

/// <summary>Finds places for runs of blocks in a map of free ones.</summary>
internal static class BitRuns
{
    /// <summary>Gives the lowest <paramref name="length"/> bits set. pre: 1 to 64.</summary>
    public static ulong Mask(int length) => ulong.MaxValue >> (64 - length);

    /// <summary>
    /// Finds the place for a run that needs the least new memory; of several the one in the smallest hole, so that large holes stay whole; in that hole the highest, away from single blocks.
    /// pre: length from 1 to 64.
    /// </summary>
    /// <param name="free">The free blocks.</param>
    /// <param name="resident">The blocks with memory behind them.</param>
    /// <param name="length">How many adjacent blocks are wanted.</param>
    /// <param name="residentCount">How many of those found have memory.</param>
    /// <returns>The number of the first block; -1 where there is no such run.</returns>
    public static int FindBest(ulong free, ulong resident, int length, out int residentCount)
    {
        int best = -1;
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

                if (count == length)
                {
                    // No place in this hole is better.
                    break;
                }
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
        ulong from = rest >> skipped;
        length = from == ulong.MaxValue ? 64 : BitOperations.TrailingZeroCount(~from);
        return true;
    }
}

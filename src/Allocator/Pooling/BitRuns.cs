using System.Numerics;

namespace Allocator.Pooling;

/// <summary>Finds runs of set bits.</summary>
internal static class BitRuns
{
    /// <summary>Gives the lowest <paramref name="length"/> bits set. pre: 1 to 64.</summary>
    public static ulong Mask(int length) => ulong.MaxValue >> (64 - length);

    /// <summary>Finds the highest run of <paramref name="length"/> set bits, and gives the number of its lowest bit; -1 where there is none. pre: 1 to 64.</summary>
    public static int FindHighest(ulong bits, int length)
    {
        // After the step for k, a bit is set where k set bits begin. Doubling k needs six steps for 64.
        ulong starts = bits;
        int have = 1;
        while (have < length && starts != 0)
        {
            int step = have < length - have ? have : length - have;
            starts &= starts >> step;
            have += step;
        }

        return starts == 0 ? -1 : 63 - BitOperations.LeadingZeroCount(starts);
    }
}

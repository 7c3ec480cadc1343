using System;
using Allocator.Pooling;
using Xunit;

namespace Allocator.Tests.Pooling;

public class BitRunsTests
{
    [Fact]
    public void FindHighest_RandomMaps_AgreesWithASearchBitByBit()
    {
        Random random = new(17);
        for (int i = 0; i < 20_000; i++)
        {
            ulong bits = (ulong)random.NextInt64() | ((ulong)random.NextInt64() << (i % 3 * 16));
            int length = random.Next(1, 65);
            Assert.Equal(Search(bits, length), BitRuns.FindHighest(bits, length));
        }

        Assert.Equal(0, BitRuns.FindHighest(ulong.MaxValue, 64));
        Assert.Equal(63, BitRuns.FindHighest(ulong.MaxValue, 1));
        Assert.Equal(-1, BitRuns.FindHighest(0, 1));
        Assert.Equal(-1, BitRuns.FindHighest(ulong.MaxValue >> 1, 64));
    }

    private static int Search(ulong bits, int length)
    {
        for (int start = 64 - length; start >= 0; start--)
        {
            ulong mask = BitRuns.Mask(length) << start;
            if ((bits & mask) == mask)
            {
                return start;
            }
        }

        return -1;
    }
}

using System.Numerics;
using Allocator.Pooling;

namespace Allocator.Tests.Pooling;

public class BlockBitsTests
{
    [Fact]
    public void FindBest_RandomMaps_AgreesWithASearchOverAllPlaces()
    {
        Random random = new(17);
        for (int i = 0; i < 50_000; i++)
        {
            ulong free = RandomBits(random);
            ulong resident = RandomBits(random);
            int length = random.Next(1, random.Next(2, 66));
            Assert.Equal(Search(free, resident, length, out int expected), BlockBits.FindBest(free, resident, length, out int count));
            Assert.Equal(expected, count);
        }
    }

    [Fact]
    public void Lowest_RandomMaps_AgreesWithTakingBitByBit()
    {
        Random random = new(19);
        for (int i = 0; i < 20_000; i++)
        {
            ulong bits = RandomBits(random);
            int count = random.Next(0, 70);
            ulong rest = bits;
            ulong expected = 0;
            for (int taken = 0; taken < count && rest != 0; taken++)
            {
                expected |= rest & (~rest + 1);
                rest &= rest - 1;
            }

            Assert.Equal(expected, BlockBits.Lowest(bits, count));
        }
    }

    [Theory]
    [InlineData(ulong.MaxValue, 0, 64)]
    [InlineData(ulong.MaxValue, 60, 4)]
    [InlineData(0b0111_0110ul, 4, 3)]
    [InlineData(0b0111_0110ul, 3, 0)]
    [InlineData(1ul << 63, 63, 1)]
    public void LengthAt_ByHand_CountsToTheNextGap(ulong bits, int first, int length) =>
        Assert.Equal(length, BlockBits.LengthAt(bits, first));

    [Theory]
    [InlineData(ulong.MaxValue, 0ul, 64, 0, 0)]
    [InlineData(ulong.MaxValue, ulong.MaxValue, 1, 63, 1)]
    [InlineData(0ul, ulong.MaxValue, 1, -1, -1)]
    [InlineData(ulong.MaxValue >> 1, ulong.MaxValue, 64, -1, -1)]
    [InlineData(0b1111_0110ul, 0b1111_0110ul, 2, 1, 2)]
    [InlineData(0b1111_0110ul, 0b0011_0000ul, 2, 4, 2)]
    public void FindBest_ByHand_IsTheSmallestHoleWithTheMostMemory(ulong free, ulong resident, int length, int first, int count)
    {
        Assert.Equal(first, BlockBits.FindBest(free, resident, length, out int actual));
        Assert.Equal(count, actual);
    }

    private static ulong RandomBits(Random random)
    {
        ulong bits = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
        return random.Next(4) switch
        {
            0 => bits,
            1 => bits | (bits << 7) | (bits >> 9),
            2 => ulong.MaxValue << random.Next(64),
            _ => ~(1UL << random.Next(64)),
        };
    }

    private static int Search(ulong free, ulong resident, int length, out int residentCount)
    {
        (int Resident, int Hole, int First) best = (-1, 0, -1);
        for (int first = 0; first + length <= 64; first++)
        {
            ulong mask = BlockBits.Mask(length) << first;
            if ((free & mask) != mask)
            {
                continue;
            }

            int hole = length;
            for (int i = first - 1; i >= 0 && (free & (1UL << i)) != 0; i--)
            {
                hole++;
            }

            for (int i = first + length; i < 64 && (free & (1UL << i)) != 0; i++)
            {
                hole++;
            }

            // In one hole the highest place; of two equal holes the lower one.
            (int, int, int) candidate = (BitOperations.PopCount(resident & mask), hole, first);
            bool isSameHole = best.First >= 0 && best.Hole == hole && (free & Between(best.First, first)) == Between(best.First, first);
            if (candidate.Item1 > best.Resident || (candidate.Item1 == best.Resident && (hole < best.Hole || isSameHole)))
            {
                best = candidate;
            }
        }

        residentCount = best.Resident;
        return best.First;
    }

    private static ulong Between(int first, int end) => end == first ? 0 : BlockBits.Mask(end - first) << first;
}

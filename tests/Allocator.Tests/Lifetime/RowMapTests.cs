using Allocator.Lifetime;

namespace Allocator.Tests.Lifetime;

public class RowMapTests
{
    [Fact]
    public void Find_AnyRowAndHeight_IsTheDivision()
    {
        Random random = new(3);
        int[] divisors = [1, 2, 3, 5, 7, 341, 1024, 1365, 65535, 65536, (1 << 30) - 1, 1 << 30, int.MaxValue - 1, int.MaxValue];
        for (int i = 0; i < 100_000; i++)
        {
            int rows = i < divisors.Length ? divisors[i] : random.Next(1, 1 << random.Next(1, 31));
            RowMap map = new(rows);
            foreach (int y in (int[])[0, rows - 1, Math.Min(int.MaxValue - 1, rows), int.MaxValue, random.Next(),
                (int)Math.Min(int.MaxValue, (long)rows * random.Next(0, 100))])
            {
                Assert.Equal(y / rows, map.Find(y));
            }
        }
    }
}

namespace Allocator.Native;

/// <summary>Sums and products of byte counts that callers pass. None wraps, however absurd the numbers are.</summary>
internal static class ByteCount
{
    /// <summary>The largest estimate, more bytes than any machine has. Sixteen of them can be added without wrapping.</summary>
    public const long LargestEstimate = long.MaxValue / 16;

    /// <summary>Adds two numbers of any sign. A sum outside the range of <see cref="long"/> becomes its nearest bound.</summary>
    public static long Add(long a, long b)
    {
        long sum = unchecked(a + b);
        return ((a ^ sum) & (b ^ sum)) >= 0 ? sum : a < 0 ? long.MinValue : long.MaxValue;
    }

    /// <summary>Multiplies two sizes, neither negative; a product beyond <see cref="long"/> is <see cref="long.MaxValue"/>.</summary>
    public static long Multiply(long a, long b)
    {
        Debug.Assert(a >= 0 && b >= 0);
        return (a | b) > int.MaxValue && a != 0 && b > long.MaxValue / a ? long.MaxValue : a * b;
    }

    /// <summary>Rounds up to a multiple; a result beyond <see cref="long"/> is <see cref="long.MaxValue"/>.</summary>
    public static long RoundUp(long value, long multiple)
    {
        Debug.Assert(value >= 0 && multiple > 0);
        long rest = value % multiple;
        return rest == 0 ? value : value > long.MaxValue - (multiple - rest) ? long.MaxValue : value + (multiple - rest);
    }
}

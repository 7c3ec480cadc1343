using System.Runtime.Intrinsics;

namespace LoadResizeSave.Resizing;

/// <summary>
/// The inner loops of resizing. Products and sums are rounded one by one and in a fixed order, so that the result is the same on every
/// machine, however wide its vectors are.
/// </summary>
internal static class PixelArithmetic
{
    public const int Channels = 3;

    /// <summary>How many floats behind the last pixel are read: pixels of three are loaded as vectors of four.</summary>
    public const int Padding = 1;

    public static void AddScaled(
        ReadOnlySpan<byte> first, float firstWeight, ReadOnlySpan<byte> second, float secondWeight, Span<float> sums)
    {
        int vectorized = sums.Length - (sums.Length % Vector<byte>.Count);
        ReadOnlySpan<Vector<byte>> firsts = MemoryMarshal.Cast<byte, Vector<byte>>(first[..vectorized]);
        ReadOnlySpan<Vector<byte>> seconds = MemoryMarshal.Cast<byte, Vector<byte>>(second[..vectorized])[..firsts.Length];
        Span<Vector<float>> vectors = MemoryMarshal.Cast<float, Vector<float>>(sums[..vectorized]);
        for (int i = 0; i < firsts.Length; i++)
        {
            Vector.Widen(firsts[i], out Vector<ushort> firstLow, out Vector<ushort> firstHigh);
            Vector.Widen(seconds[i], out Vector<ushort> secondLow, out Vector<ushort> secondHigh);
            Span<Vector<float>> four = vectors.Slice(4 * i, 4);
            AddScaled(firstLow, firstWeight, secondLow, secondWeight, four[..2]);
            AddScaled(firstHigh, firstWeight, secondHigh, secondWeight, four[2..]);
        }

        for (int i = vectorized; i < sums.Length; i++)
        {
            sums[i] = sums[i] + (first[i] * firstWeight) + (second[i] * secondWeight);
        }
    }

    /// <summary>
    /// Returns the sum of <paramref name="samples"/>, each pixel times its weight, rounded; what the filter overshoots is clipped.
    /// </summary>
    public static Rgb24 WeightedSum(ReadOnlySpan<float> samples, ReadOnlySpan<float> weights)
    {
        // Two sums, because one would wait for itself at every step.
        Vector128<float> even = default, odd = default;
        int i = 0;
        for (; i + 1 < weights.Length; i += 2)
        {
            even += Vector128.Create(samples.Slice(i * Channels, 4)) * Vector128.Create(weights[i]);
            odd += Vector128.Create(samples.Slice((i + 1) * Channels, 4)) * Vector128.Create(weights[i + 1]);
        }

        if (i < weights.Length)
        {
            even += Vector128.Create(samples.Slice(i * Channels, 4)) * Vector128.Create(weights[i]);
        }

        Vector128<float> clipped = Vector128.Min(Vector128.Max(even + odd, Vector128<float>.Zero), Vector128.Create(255f));
        Vector128<int> rounded = Vector128.ConvertToInt32(clipped + Vector128.Create(0.5f));
        return new Rgb24((byte)rounded[0], (byte)rounded[1], (byte)rounded[2]);
    }

    // Measured: as a call it took a sixth of the whole job.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void AddScaled(
        Vector<ushort> first, float firstWeight, Vector<ushort> second, float secondWeight, Span<Vector<float>> sums)
    {
        Vector.Widen(first, out Vector<uint> firstLow, out Vector<uint> firstHigh);
        Vector.Widen(second, out Vector<uint> secondLow, out Vector<uint> secondHigh);
        sums[0] = sums[0] + (ToSingle(firstLow) * firstWeight) + (ToSingle(secondLow) * secondWeight);
        sums[1] = sums[1] + (ToSingle(firstHigh) * firstWeight) + (ToSingle(secondHigh) * secondWeight);
    }

    // Every value is small, and only the conversion of signed numbers is one instruction everywhere.
    private static Vector<float> ToSingle(Vector<uint> values) => Vector.ConvertToSingle(Vector.AsVectorInt32(values));
}

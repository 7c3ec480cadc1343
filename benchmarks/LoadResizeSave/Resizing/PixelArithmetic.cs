using System;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using LoadResizeSave.Pixels;

namespace LoadResizeSave.Resizing;

/// <summary>
/// The inner loops of resizing, over pixels of four floats: three channels and one unused, so that a pixel is one vector.
/// Products and sums are rounded one by one and in a fixed order, so that the result is the same on every machine.
/// </summary>
internal static class PixelArithmetic
{
    /// <summary>The number of floats that a pixel takes.</summary>
    public const int Channels = 4;

    /// <summary>Turns <paramref name="pixels"/> into floats.</summary>
    public static void Widen(ReadOnlySpan<Rgb24> pixels, Span<float> samples)
    {
        Span<Vector128<float>> vectors = MemoryMarshal.Cast<float, Vector128<float>>(samples)[..pixels.Length];
        for (int x = 0; x < vectors.Length; x++)
        {
            Rgb24 pixel = pixels[x];
            vectors[x] = Vector128.ConvertToSingle(Vector128.Create(pixel.R, pixel.G, pixel.B, 0));
        }
    }

    /// <summary>Writes the sum of <paramref name="samples"/>, each pixel times its weight, to the one pixel of <paramref name="result"/>.</summary>
    public static void WeightedSum(ReadOnlySpan<float> samples, ReadOnlySpan<float> weights, Span<float> result)
    {
        ReadOnlySpan<Vector128<float>> pixels = MemoryMarshal.Cast<float, Vector128<float>>(samples)[..weights.Length];

        // Four sums, because one would wait for itself at every step.
        Vector128<float> sum0 = default, sum1 = default, sum2 = default, sum3 = default;
        int i = 0;
        for (; i + 3 < weights.Length; i += 4)
        {
            sum0 += pixels[i] * Vector128.Create(weights[i]);
            sum1 += pixels[i + 1] * Vector128.Create(weights[i + 1]);
            sum2 += pixels[i + 2] * Vector128.Create(weights[i + 2]);
            sum3 += pixels[i + 3] * Vector128.Create(weights[i + 3]);
        }

        for (; i < weights.Length; i++)
        {
            sum0 += pixels[i] * Vector128.Create(weights[i]);
        }

        (sum0 + sum1 + (sum2 + sum3)).CopyTo(result);
    }

    /// <summary>Adds <paramref name="samples"/> times <paramref name="weight"/> to <paramref name="sum"/>.</summary>
    public static void AddScaled(ReadOnlySpan<float> samples, float weight, Span<float> sum)
    {
        int vectorized = sum.Length - (sum.Length % Vector<float>.Count);
        ReadOnlySpan<Vector<float>> sources = MemoryMarshal.Cast<float, Vector<float>>(samples[..vectorized]);
        Span<Vector<float>> sums = MemoryMarshal.Cast<float, Vector<float>>(sum[..vectorized]);
        Vector<float> factor = new(weight);
        for (int i = 0; i < sums.Length; i++)
        {
            sums[i] += sources[i] * factor;
        }

        for (int i = vectorized; i < sum.Length; i++)
        {
            sum[i] += samples[i] * weight;
        }
    }

    /// <summary>Rounds <paramref name="samples"/> to bytes; what the filter overshoots is clipped.</summary>
    public static void Narrow(ReadOnlySpan<float> samples, Span<Rgb24> pixels)
    {
        ReadOnlySpan<Vector128<float>> vectors = MemoryMarshal.Cast<float, Vector128<float>>(samples)[..pixels.Length];
        Vector128<float> half = Vector128.Create(0.5f);
        Vector128<float> white = Vector128.Create(255f);
        for (int x = 0; x < vectors.Length; x++)
        {
            Vector128<float> clipped = Vector128.Min(Vector128.Max(vectors[x], Vector128<float>.Zero), white);
            Vector128<int> rounded = Vector128.ConvertToInt32(clipped + half);
            pixels[x] = new Rgb24((byte)rounded[0], (byte)rounded[1], (byte)rounded[2]);
        }
    }
}

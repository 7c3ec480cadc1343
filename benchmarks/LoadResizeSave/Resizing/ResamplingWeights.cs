namespace LoadResizeSave.Resizing;

/// <summary>The samples that one output is made of.</summary>
internal readonly record struct ResamplingRange(int Start, int Count);

/// <summary>
/// The Lanczos kernel with three lobes, laid out for one axis: which samples each output is made of, and how much of each. Weights of one
/// output sum to one, so that flat areas stay exactly as they are.
/// </summary>
internal sealed class ResamplingWeights : IDisposable
{
    private const double Lobes = 3;

    // Ranges first, then weights: one buffer, so that none is left behind where a second would be refused.
    private readonly IMemoryOwner<byte> _owner;
    private readonly int _rangesLengthInBytes;

    /// <summary>
    /// Computes the weights that turn <paramref name="sourceLength"/> samples into <paramref name="targetLength"/>, which is no longer.
    /// </summary>
    public ResamplingWeights(int sourceLength, int targetLength, PixelStore store)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(targetLength, sourceLength);
        double scale = (double)sourceLength / targetLength;
        MaximumCount = CountSamples(sourceLength, targetLength);
        _owner = store.Allocate<byte>(LengthInBytes(sourceLength, targetLength));
        _rangesLengthInBytes = Unsafe.SizeOf<ResamplingRange>() * targetLength;
        Span<ResamplingRange> ranges = MemoryMarshal.Cast<byte, ResamplingRange>(_owner.Memory.Span[.._rangesLengthInBytes]);
        Span<float> weights = MemoryMarshal.Cast<byte, float>(_owner.Memory.Span[_rangesLengthInBytes..]);
        for (int i = 0; i < targetLength; i++)
        {
            double centre = (i + 0.5) * scale;
            int start = Math.Max(0, (int)Math.Floor(centre - (Lobes * scale)));
            int end = Math.Min(sourceLength, Math.Min(start + MaximumCount, (int)Math.Ceiling(centre + (Lobes * scale))));
            ranges[i] = new ResamplingRange(start, end - start);
            Fill(weights.Slice(i * MaximumCount, end - start), start, centre, scale);
        }
    }

    public static int LengthInBytes(int sourceLength, int targetLength)
    {
        long length = ((long)CountSamples(sourceLength, targetLength) * sizeof(float) + Unsafe.SizeOf<ResamplingRange>()) * targetLength;
        return length <= Array.MaxLength
            ? (int)length
            : throw new OutOfMemoryException($"{targetLength:N0} pixels in a line are too many to be resized.");
    }

    public int MaximumCount { get; }

    public ReadOnlySpan<ResamplingRange> Ranges => MemoryMarshal.Cast<byte, ResamplingRange>(_owner.Memory.Span[.._rangesLengthInBytes]);

    public ReadOnlySpan<float> Weights => MemoryMarshal.Cast<byte, float>(_owner.Memory.Span[_rangesLengthInBytes..]);

    public void Dispose() => _owner.Dispose();

    private static int CountSamples(int sourceLength, int targetLength)
        => (int)Math.Min(sourceLength, Math.Ceiling(2 * Lobes * ((double)sourceLength / targetLength)) + 1);

    private static void Fill(Span<float> weights, int start, double centre, double scale)
    {
        double sum = 0;
        for (int i = 0; i < weights.Length; i++)
        {
            double weight = Lanczos((start + i + 0.5 - centre) / scale);
            weights[i] = (float)weight;
            sum += weight;
        }

        for (int i = 0; i < weights.Length; i++)
        {
            weights[i] = (float)(weights[i] / sum);
        }
    }

    private static double Lanczos(double x)
    {
        if (Math.Abs(x) < 1e-9)
        {
            return 1;
        }

        double angle = Math.PI * x;
        return Math.Abs(x) < Lobes ? Lobes * Math.Sin(angle) * Math.Sin(angle / Lobes) / (angle * angle) : 0;
    }
}

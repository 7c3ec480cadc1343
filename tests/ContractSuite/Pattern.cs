namespace ContractSuite;

/// <summary>Writes contents that can be recognised, and recognises them.</summary>
internal static class Pattern
{
    private const int Step = 509;

    public static void Fill(Span<byte> span, int seed)
    {
        for (int i = 0; i < span.Length; i += Step)
        {
            span[i] = (byte)(i + seed);
        }

        span[span.Length - 1] = (byte)seed;
    }

    public static void Verify(ReadOnlySpan<byte> span, int seed)
    {
        for (int i = 0; i < span.Length - 1; i += Step)
        {
            // Tested here first, or each byte would cost a formatted message.
            if (span[i] != (byte)(i + seed))
            {
                Checks.That(false, $"byte {i} of {span.Length} as it was written");
            }
        }

        Checks.That(span[span.Length - 1] == (byte)seed, $"the last of {span.Length} bytes as it was written");
    }

    /// <summary>Gives whether every element is the one.</summary>
    public static bool IsAll<T>(ReadOnlySpan<T> span, T value)
        where T : struct, IEquatable<T> =>
        span.IsEmpty
            || (EqualityComparer<T>.Default.Equals(span[0], value) && span.Slice(1).SequenceEqual(span.Slice(0, span.Length - 1)));
}

using System;
using A4Copy.Buffers;

namespace A4Copy.Trials;

/// <summary>Writes pages that differ from each other, and compares a copy with its source.</summary>
internal static class PageContents
{
    /// <summary>Fills <paramref name="source"/> so that nothing that lies in memory from earlier trials can pass for a copy of it.</summary>
    public static void Write(PageBuffer source, int seed) => new Random(seed).NextBytes(source.Span);

    /// <summary>Fills <paramref name="source"/> quickly. The system then has provided its pages.</summary>
    public static void Fill(PageBuffer source, int seed) => source.Span.Fill((byte)seed);

    /// <summary>Throws where <paramref name="destination"/> differs from <paramref name="source"/>.</summary>
    public static void Compare(PageBuffer source, PageBuffer destination, string description)
    {
        int equal = source.Span.CommonPrefixLength(destination.Span);
        if (equal != A4Page.SizeInBytes)
        {
            throw new InvalidOperationException($"{description}: the copy differs from its source at byte {equal}.");
        }
    }
}

using System;
using System.Runtime.InteropServices;
using A4Copy.Buffers;

namespace A4Copy.Trials;

/// <summary>Writes pages that differ from each other, and compares a copy with its source.</summary>
internal static class PageContents
{
    /// <summary>Fills <paramref name="source"/> so that no part of it is like another, nor like what lies in memory from earlier trials.</summary>
    public static void Write(PageBuffer source, int seed)
    {
        // Weyl's sequence: an odd step visits all numbers, and each seed begins elsewhere.
        const ulong Step = 0x9E37_79B9_7F4A_7C15;
        ulong value = (ulong)(seed + 1) << 40;
        foreach (ref ulong word in MemoryMarshal.Cast<byte, ulong>(source.Span))
        {
            word = value += Step;
        }
    }

    /// <summary>Writes one byte of each page of <paramref name="source"/>, so that the system has provided it.</summary>
    public static void Touch(PageBuffer source)
    {
        Span<byte> bytes = source.Span;
        for (int i = 0; i < bytes.Length; i += Environment.SystemPageSize)
        {
            bytes[i]++;
        }
    }

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

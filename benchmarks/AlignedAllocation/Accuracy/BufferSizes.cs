using System;
using System.Collections.Generic;

namespace AlignedAllocation.Accuracy;

/// <summary>The sizes of the alignment check: from one byte to an 8K image of 32 bits a pixel, each larger than the last by the same factor.</summary>
internal static class BufferSizes
{
    /// <summary>How many there are.</summary>
    public const int Count = 200;

    /// <summary>The largest, in bytes: 7680 × 4320 pixels of 4 bytes.</summary>
    public const int Largest = 7680 * 4320 * 4;

    /// <summary>Lists them, in bytes, in ascending order and without doubles.</summary>
    public static IReadOnlyList<int> List()
    {
        int[] sizes = new int[Count];
        sizes[0] = 1;
        for (int i = 1; i < Count; i++)
        {
            // The first steps are below one byte: they are rounded up to it.
            sizes[i] = Math.Max(sizes[i - 1] + 1, (int)Math.Round(Math.Pow(Largest, i / (Count - 1.0))));
        }

        return sizes;
    }
}

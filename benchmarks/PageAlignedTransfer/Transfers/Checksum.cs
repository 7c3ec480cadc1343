using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace PageAlignedTransfer.Transfers;

/// <summary>The sum of all 64-bit words: work that reads every byte once, and shows that the right bytes came.</summary>
internal static class Checksum
{
    /// <summary>Returns the sum over <paramref name="bytes"/>, whose length is a multiple of 8.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)] // Compiled well at its first call: large transfers are too few for the runtime to see that it matters.
    public static ulong Of(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<Vector<ulong>> vectors = MemoryMarshal.Cast<byte, Vector<ulong>>(bytes);
        Vector<ulong> sums = Vector<ulong>.Zero;
        foreach (Vector<ulong> vector in vectors)
        {
            sums += vector;
        }

        ulong sum = Vector.Sum(sums);
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes[(vectors.Length * Vector<byte>.Count)..]))
        {
            sum += word;
        }

        return sum;
    }
}

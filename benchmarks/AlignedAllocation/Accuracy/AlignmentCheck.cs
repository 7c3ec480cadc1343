using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using AlignedAllocation.Ways;

namespace AlignedAllocation.Accuracy;

/// <summary>
/// Holds a buffer of each size at the same time, and looks whether each begins where it was promised to, and whether what is written to its
/// two ends is still there when all the others have been written.
/// </summary>
internal static class AlignmentCheck
{
    /// <summary>Checks <paramref name="way"/> with buffers of <paramref name="sizes"/> bytes.</summary>
    public static AlignmentResult Run(AllocationWay way, IReadOnlyList<int> sizes)
    {
        List<HeldBuffer> buffers = new(sizes.Count);
        try
        {
            List<string> failures = [];
            long allAddresses = 0;
            int onCacheLines = 0;
            for (int i = 0; i < sizes.Count; i++)
            {
                HeldBuffer buffer = way.Hold(sizes[i]);
                buffers.Add(buffer);
                long address = AddressOf(buffer);
                allAddresses |= address;
                onCacheLines += address % AllocationWays.Alignment == 0 ? 1 : 0;
                if (address % way.PromisedAlignment(sizes[i]) != 0)
                {
                    failures.Add(
                        $"{way.Name}: buffer {i} of {sizes[i]} bytes begins at 0x{address:x}, which is aligned to {AlignmentOf(address)} bytes; {way.PromisedAlignment(sizes[i])} were promised.");
                }

                (buffer.Bytes[0], buffer.Bytes[^1]) = (Stamp(i), Stamp(i));
            }

            failures.AddRange(Enumerable.Range(0, buffers.Count)
                .Where(i => buffers[i].Bytes.Length != sizes[i] || buffers[i].Bytes[0] != Stamp(i) || buffers[i].Bytes[^1] != Stamp(i))
                .Select(i => $"{way.Name}: buffer {i} of {sizes[i]} bytes does not hold what was written to it: it shares memory with another."));
            return new AlignmentResult
            {
                Way = way.Name,
                Buffers = sizes.Count,
                LeastPromise = sizes.Min(way.PromisedAlignment),
                LargestPromise = sizes.Max(way.PromisedAlignment),
                LeastFound = AlignmentOf(allAddresses),
                OnCacheLines = onCacheLines,
                Failures = failures,
            };
        }
        finally
        {
            buffers.ForEach(buffer => buffer.Dispose());
        }
    }

    private static byte Stamp(int index) => (byte)(index + 1);

    private static long AlignmentOf(long address) => 1L << BitOperations.TrailingZeroCount(address);

    private static unsafe long AddressOf(HeldBuffer buffer) => (long)Unsafe.AsPointer(ref MemoryMarshal.GetReference(buffer.Bytes));
}

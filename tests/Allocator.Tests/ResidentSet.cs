using System.Globalization;

namespace Allocator.Tests;

/// <summary>What of this process is in memory, as Linux tells it.</summary>
internal static class ResidentSet
{
    public static long Bytes
    {
        get
        {
            if (!OperatingSystem.IsLinux())
            {
                return Environment.WorkingSet;
            }

            // smaps_rollup is exact; the figure of /proc/self/status lags behind by what each core has not yet folded in.
            string line = File.ReadLines("/proc/self/smaps_rollup")
                .First(static text => text.StartsWith("Rss:", StringComparison.Ordinal));
            return long.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1]) * 1024;
        }
    }

    /// <summary>Skips if a page that is only read takes memory here: some kernels have no page of zeros that all share.</summary>
    public static void SkipIfReadsTakeMemory()
    {
        const int Length = 32 << 20;
        UnixMemorySource source = new(useHugePages: false);
        nint address = source.TryAllocate(Length, NativeMemorySource.MinimumAlignment, out _);
        long before = BytesOfMappingAt(address);
        for (int i = 0; i < Length; i += Environment.SystemPageSize)
        {
            _ = Volatile.Read(ref Unsafe.AddByteOffset(ref Unsafe.NullRef<byte>(), address + i));
        }

        long taken = BytesOfMappingAt(address) - before;
        source.Free(address, Length);
        Skip.If(taken > Length / 2, "This kernel takes memory for a page that is only read.");
    }

    // Of one mapping: other tests take and return memory at the same time.
    private static long BytesOfMappingAt(nint address)
    {
        bool isWithin = false;
        foreach (string line in File.ReadLines("/proc/self/smaps"))
        {
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            string[] range = words[0].Split('-');
            if (range.Length == 2 && nint.TryParse(range[0], NumberStyles.HexNumber, null, out nint start))
            {
                isWithin = start <= address && address < nint.Parse(range[1], NumberStyles.HexNumber);
            }
            else if (isWithin && words[0] == "Rss:")
            {
                return long.Parse(words[1]) * 1024;
            }
        }

        return 0;
    }
}

using System;
using System.Collections.Generic;
using Decisions.Machines;

namespace Decisions.Segments;

/// <summary>
/// An address space as small and as scattered as that of a 32-bit process: the second GB, which is all that some mappings of Linux on x64 may use,
/// with small mappings strewn over it. The kernel itself looks for the holes.
/// </summary>
internal sealed class ScatteredSpace : IDisposable
{
    private const long Start = 1L << 30;
    private const long Length = 1L << 30;
    private const long ObstacleBytes = MemorySize.Megabyte;

    private readonly List<nint> _obstacles = [];

    /// <summary>Strews <paramref name="obstacles"/> mappings of 1 MB.</summary>
    public ScatteredSpace(int obstacles, Random random)
    {
        for (int attempts = 0; _obstacles.Count < obstacles; attempts++)
        {
            if (attempts > 100 * obstacles)
            {
                throw new InvalidOperationException($"Of {obstacles} mappings only {_obstacles.Count} could be made in the second GB of the address space.");
            }

            long page = random.NextInt64((Length - ObstacleBytes) / Environment.SystemPageSize);
            nint address = (nint)(Start + (page * Environment.SystemPageSize));
            if (LinuxMemory.TryMapAt(address, ObstacleBytes, hugePages: false))
            {
                _obstacles.Add(address);
            }
        }
    }

    /// <summary>Returns whether so much memory can be had at once in pieces of a given size, and gives it back.</summary>
    public static bool CanMap(int totalMegabytes, int pieceMegabytes)
    {
        long bytes = (long)pieceMegabytes * MemorySize.Megabyte;
        List<nint> pieces = [];
        bool fits = true;
        for (int i = 0; i < totalMegabytes / pieceMegabytes && fits; i++)
        {
            nint piece = LinuxMemory.TryMapLow(bytes);
            fits = piece != 0;
            if (fits)
            {
                pieces.Add(piece);
            }
        }

        pieces.ForEach(piece => LinuxMemory.Unmap(piece, bytes));
        return fits;
    }

    /// <inheritdoc/>
    public void Dispose() => _obstacles.ForEach(static address => LinuxMemory.Unmap(address, ObstacleBytes));
}

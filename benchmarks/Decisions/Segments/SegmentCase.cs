using System;
using System.Diagnostics;
using Allocator;
using Allocator.Native;
using Decisions.Machines;
using Measuring.Memory;

namespace Decisions.Segments;

/// <summary>One way to have oversize memory: how much, in pieces of which size, on which pages.</summary>
/// <param name="TotalMegabytes">All of it, in MB.</param>
/// <param name="PieceMegabytes">One mapping, in MB.</param>
/// <param name="HugePages">Whether huge pages are asked for.</param>
internal sealed record SegmentCase(int TotalMegabytes, int PieceMegabytes, HugePages HugePages)
{
    private readonly VirtualMemorySource _source = VirtualMemorySource.Create(HugePages);

    /// <summary>Gets the number of mappings.</summary>
    public int Pieces => TotalMegabytes / PieceMegabytes;

    /// <summary>Gets whether everything is one mapping.</summary>
    public bool IsOneMapping => Pieces == 1;

    /// <summary>Gets the name of the pages.</summary>
    public string Pages => HugePages == HugePages.Auto ? "huge" : "4 KB";

    /// <summary>Maps, writes and unmaps, as the library does for memory above its pool.</summary>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    public SegmentCost Measure()
    {
        long bytes = (long)PieceMegabytes * MemorySize.Megabyte;
        nint[] pieces = new nint[Pieces];
        int? mappings = CountMappings();
        long start = Stopwatch.GetTimestamp();
        foreach (ref nint piece in pieces.AsSpan())
        {
            piece = _source.TryAllocate(bytes, NativeMemorySource.MinimumAlignment, out _);
            if (piece == 0)
            {
                throw new OutOfMemoryException($"The system refused {PieceMegabytes} MB of {TotalMegabytes}.");
            }
        }

        TimeSpan map = Stopwatch.GetElapsedTime(start);
        mappings = CountMappings() - mappings;

        start = Stopwatch.GetTimestamp();
        foreach (nint piece in pieces)
        {
            PageTouch.Write(piece, (nint)bytes);
        }

        TimeSpan firstTouch = Stopwatch.GetElapsedTime(start);
        TimeSpan unmap = TimeSpan.Zero;
        TimeSpan longest = TimeSpan.Zero;
        foreach (nint piece in pieces)
        {
            start = Stopwatch.GetTimestamp();
            _source.Free(piece, bytes);
            TimeSpan elapsed = Stopwatch.GetElapsedTime(start);
            unmap += elapsed;
            longest = elapsed > longest ? elapsed : longest;
        }

        return new SegmentCost
        {
            Map = map.TotalMicroseconds,
            FirstTouch = firstTouch.TotalMicroseconds,
            Unmap = unmap.TotalMicroseconds,
            LongestUnmap = longest.TotalMicroseconds,
            MappingsAdded = mappings,
        };
    }

    private static int? CountMappings() => LinuxMemory.IsAvailable ? LinuxMemory.CountMappings() : null;
}

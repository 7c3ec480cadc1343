using System;
using System.Diagnostics;

namespace Allocator.Diagnostics;

/// <summary>One reading of all allocators, shared by the instruments that one collection calls, one after the other on one thread: so that they agree, and the blocks are walked over once.</summary>
internal sealed class UsageCollection
{
    // The base library does not say where a collection begins. An instrument that comes before the last one, or later than this, belongs to another.
    private const int MaximumAgeMilliseconds = 10;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static UsageCollection? t_last;
#pragma warning restore IDE1006

    private readonly NamedFigures[] _figures = UsageRegistry.Read();
    private readonly long _readAt = Stopwatch.GetTimestamp();
    private UsageFigure _lastAsked;

    private bool IsOld => Stopwatch.GetElapsedTime(_readAt).TotalMilliseconds > MaximumAgeMilliseconds;

    /// <summary>Gives what there is to be told of a figure.</summary>
    public static NamedFigures[] Get(UsageFigure figure)
    {
        UsageCollection? last = t_last;
        if (last is null || figure <= last._lastAsked || last.IsOld)
        {
            t_last = last = new UsageCollection();
        }

        last._lastAsked = figure;
        return last._figures;
    }
}

using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;

namespace Decisions.Trimming;

/// <summary>Learns from the runtime's events which collections somebody asked for: the program, or the pressure that the collector was told of.</summary>
internal sealed class CollectionListener : EventListener
{
    private const string Runtime = "Microsoft-Windows-DotNETRuntime";
    private const EventKeywords Collections = (EventKeywords)0x1;
    private const int Started = 1;

    // GCStart's reasons: induced; induced and not forced; induced and compacting; induced and aggressive.
    private static readonly uint[] s_inducedReasons = [1, 7, 10, 17];

    // Events come from the constructor of the base class on, before this one's fields are set.
    private readonly Lock? _lock = new();
    private readonly List<DateTime> _induced = [];

    /// <summary>Waits for events that are still under way: the runtime passes them on in bundles.</summary>
    public static void Settle() => Thread.Sleep(300);

    /// <summary>Returns how many collections were asked for between two moments.</summary>
    public int CountInduced(DateTime from, DateTime to)
    {
        lock (_lock!)
        {
            return _induced.Count(time => time >= from && time < to);
        }
    }

    /// <inheritdoc/>
    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (eventSource.Name == Runtime)
        {
            EnableEvents(eventSource, EventLevel.Informational, Collections);
        }
    }

    /// <inheritdoc/>
    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        if (_lock is not null && eventData.EventId == Started && eventData.PayloadNames?.IndexOf("Reason") is int index and >= 0
            && eventData.Payload?[index] is uint reason && Array.IndexOf(s_inducedReasons, reason) >= 0)
        {
            lock (_lock)
            {
                _induced.Add(eventData.TimeStamp);
            }
        }
    }
}

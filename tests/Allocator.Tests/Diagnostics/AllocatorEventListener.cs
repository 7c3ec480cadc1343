using System.Collections.Concurrent;
using System.Diagnostics.Tracing;

namespace Allocator.Tests.Diagnostics;

/// <summary>Keeps the events of the library, in the order in which they were written.</summary>
internal sealed class AllocatorEventListener : EventListener
{
    public const EventKeywords Trimming = (EventKeywords)1;
    public const EventKeywords Memory = (EventKeywords)2;
    public const EventKeywords Budget = (EventKeywords)4;
    public const EventKeywords Rents = (EventKeywords)8;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly BlockingCollection<EventWrittenEventArgs> _events = [];
    private readonly EventLevel _level;
    private readonly EventKeywords _keywords;
    private readonly bool _isReady;

    public AllocatorEventListener(EventLevel level, EventKeywords keywords, Action<EventWrittenEventArgs>? written = null)
    {
        _level = level;
        _keywords = keywords;
        Written = written;
        _isReady = true;

        // The base class has told of this one before there were a level and keywords.
        if (Source is EventSource source)
        {
            EnableEvents(source, level, keywords);
        }
    }

    public static EventSource? Source => EventSource.GetSources().SingleOrDefault(static source => source.Name == "Allocator");

    public int Waiting => _events.Count;

    private Action<EventWrittenEventArgs>? Written { get; }

    public EventWrittenEventArgs Take() =>
        _events.TryTake(out EventWrittenEventArgs? written, s_patience) ? written : throw new TimeoutException("No event was written.");

    /// <summary>Takes an event, and gives its name and what it says.</summary>
    public (string Name, IReadOnlyDictionary<string, object?> Values) TakeValues()
    {
        EventWrittenEventArgs written = Take();
        return (written.EventName!, written.PayloadNames!.Zip(written.Payload!).ToDictionary(pair => pair.First, pair => pair.Second));
    }

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (_isReady && eventSource.Name == "Allocator")
        {
            EnableEvents(eventSource, _level, _keywords);
        }
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        _events.Add(eventData);
        Written?.Invoke(eventData);
    }
}

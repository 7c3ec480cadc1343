using System.Diagnostics.Tracing;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Notices, while an allocator is made, that the library has set malloc's map threshold: it does so once in a process, and writes an
/// event.
/// </summary>
internal sealed class MapThresholdListener : EventListener
{
    private const string Source = "Allocator";
    private const string Event = "NativeMapThresholdSet";

    /// <summary>Gets the threshold that has been set. Null if none was.</summary>
    public long? Bytes { get; private set; }

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (eventSource.Name == Source)
        {
            EnableEvents(eventSource, EventLevel.Informational);
        }
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        if (eventData.EventName == Event && eventData.Payload is [long bytes, ..])
        {
            Bytes = bytes;
        }
    }
}

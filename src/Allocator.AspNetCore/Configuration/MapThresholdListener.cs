using System.Diagnostics.Tracing;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Notices, while an allocator is made, that the library has set malloc's map threshold: it does so once in a process, and writes an
/// event. The first allocator may be the one that validates the options.
/// </summary>
internal sealed class MapThresholdListener : EventListener
{
    private const string Source = "Allocator";
    private const string Event = "NativeMapThresholdSet";

    private static long s_bytes;

    /// <summary>Returns the threshold that has been set since the last call; 0 if none was.</summary>
    public static long TakeBytes() => Interlocked.Exchange(ref s_bytes, 0);

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
            Volatile.Write(ref s_bytes, bytes);
        }
    }
}

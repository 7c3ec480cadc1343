using System;
using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Tracing;

namespace Allocator.Diagnostics;

/// <summary>The events of the library for <c>dotnet-trace</c>, PerfView and <see cref="EventListener"/>, under the name <c>Allocator</c>.</summary>
[EventSource(Name = "Allocator")]
internal sealed class AllocatorEventSource : EventSource
{
    public static readonly AllocatorEventSource Log = new();

    private AllocatorEventSource()
    {
    }

    /// <summary>One allocation was dropped without <c>Dispose</c>.</summary>
    [Event(1, Level = EventLevel.Warning, Message = "{0} bytes were dropped without Dispose after {1} ms")]
    public void AllocationAbandoned(long bytes, long ageMilliseconds, string allocationStackTrace)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            Write(1, bytes, ageMilliseconds, allocationStackTrace);
        }
    }

    /// <summary>Allocations leak from one place: written for the first, and whenever their number has doubled.</summary>
    [Event(2, Level = EventLevel.Warning, Message = "{0} allocations of {1} bytes in all leaked from one place")]
    public void LeakFound(long count, long bytes, string allocationStackTrace)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            Write(2, count, bytes, allocationStackTrace);
        }
    }

    /// <summary>Watched memory was written to outside a buffer, or after its return.</summary>
    [Event(3, Level = EventLevel.Error, Message = "{2}")]
    public void CorruptionFound(long bytes, long offset, string description)
    {
        if (IsEnabled(EventLevel.Error, EventKeywords.None))
        {
            Write(3, bytes, offset, description);
        }
    }

    /// <summary>No file for allocation records could be made.</summary>
    [Event(4, Level = EventLevel.Warning, Message = "Faults will go unexplained: {0}")]
    public void RecordsUnavailable(string reason)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            WriteEvent(4, reason);
        }
    }

    /// <summary>A trimmer has given idle memory of one allocator back, for <paramref name="reason"/>; the load is that which decided. Trims that somebody asked for are not written.</summary>
    [NonEvent]
    public void MemoryTrimmed(string? allocatorName, long bytes, TrimReason reason, in MemoryLoad load)
    {
        if (IsEnabled(EventLevel.Informational, EventKeywords.None))
        {
            MemoryTrimmed(bytes, reason.ToString(), load.Source.ToString(), load.UsedBytes, load.TotalBytes, allocatorName ?? "");
        }
    }

    [Event(5, Level = EventLevel.Informational, Message = "{0} bytes of idle memory trimmed: {1}. {2}: {3} of {4} bytes used")]
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Numbers and text only.")]
    private unsafe void MemoryTrimmed(long bytes, string reason, string source, long usedBytes, long totalBytes, string allocatorName)
    {
        fixed (char* reasonText = reason, sourceText = source, nameText = allocatorName)
        {
            EventData* data = stackalloc EventData[6];
            data[0] = new EventData { DataPointer = (IntPtr)(&bytes), Size = sizeof(long) };
            data[1] = Text(reasonText, reason);
            data[2] = Text(sourceText, source);
            data[3] = new EventData { DataPointer = (IntPtr)(&usedBytes), Size = sizeof(long) };
            data[4] = new EventData { DataPointer = (IntPtr)(&totalBytes), Size = sizeof(long) };
            data[5] = Text(nameText, allocatorName);
            WriteEventCore(5, 6, data);
        }
    }

    [NonEvent]
    private static unsafe EventData Text(char* characters, string text) =>
        new() { DataPointer = (IntPtr)characters, Size = (text.Length + 1) * sizeof(char) };

    // The overloads of WriteEvent that fit would box the numbers, and reflect over them where code is trimmed.
    [NonEvent]
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Numbers and text only.")]
    private unsafe void Write(int eventId, long first, long second, string text)
    {
        fixed (char* characters = text)
        {
            EventData* data = stackalloc EventData[3];
            data[0] = new EventData { DataPointer = (IntPtr)(&first), Size = sizeof(long) };
            data[1] = new EventData { DataPointer = (IntPtr)(&second), Size = sizeof(long) };
            data[2] = Text(characters, text);
            WriteEventCore(eventId, 3, data);
        }
    }
}

using System;
using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Tracing;

namespace Allocator.Diagnostics;

/// <summary>
/// The events of the library for <c>dotnet-trace</c>, PerfView and <see cref="EventListener"/>, under the name <c>Allocator</c>.
/// </summary>
/// <remarks>
/// No event is written under a lock. What a listener throws the runtime swallows. Events without a keyword are findings: they are written
/// whatever keywords are asked for.
/// </remarks>
[EventSource(Name = SourceName)]
internal sealed partial class AllocatorEventSource : EventSource
{
    private const string SourceName = "Allocator";

    public static readonly AllocatorEventSource Log = new();

    // By name: finding the name in the attribute makes the runtime load what reads attributes, which takes three times as long as all the
    // rest.
    private AllocatorEventSource()
        : base(SourceName, EventSourceSettings.EtwManifestEventFormat)
    {
    }

    /// <summary>Gets whether anybody wants to know of single rents.</summary>
    public bool WritesRents
    {
        [NonEvent]
        get => IsEnabled(EventLevel.Verbose, Keywords.Rents);
    }

    /// <summary>One allocation was dropped without <c>Dispose</c>.</summary>
    [Event(1, Level = EventLevel.Warning, Version = 1, Message = "{0} bytes were dropped without Dispose after {1} ms")]
    public unsafe void AllocationAbandoned(long bytes, long ageMilliseconds, string allocationStackTrace, string allocatorName)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            fixed (char* stack = allocationStackTrace, name = allocatorName)
            {
                EventData* data = stackalloc EventData[4];
                data[0] = Number(&bytes);
                data[1] = Number(&ageMilliseconds);
                data[2] = Text(stack, allocationStackTrace);
                data[3] = Text(name, allocatorName);
                Write(1, 4, data);
            }
        }
    }

    /// <summary>Allocations leak from one place: written for the first, and whenever their number has doubled.</summary>
    [Event(2, Level = EventLevel.Warning, Message = "{0} allocations of {1} bytes in all leaked from one place")]
    public void LeakFound(long count, long bytes, string allocationStackTrace)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            WriteFinding(2, count, bytes, allocationStackTrace);
        }
    }

    /// <summary>Watched memory was written to outside a buffer, or after its return.</summary>
    [Event(3, Level = EventLevel.Error, Message = "{2}")]
    public void CorruptionFound(long bytes, long offset, string description)
    {
        if (IsEnabled(EventLevel.Error, EventKeywords.None))
        {
            WriteFinding(3, bytes, offset, description);
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

    /// <summary>
    /// Idle memory of one allocator was given back, for <paramref name="reason"/>. The load is that which decided; where something else
    /// did, it has no source.
    /// </summary>
    [NonEvent]
    public void MemoryTrimmed(string? allocatorName, long bytes, TrimReason reason, in MemoryLoad load)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Trimming))
        {
            try
            {
                MemoryTrimmed(bytes, reason.ToString(), load.Source.ToString(), load.UsedBytes, load.TotalBytes, allocatorName ?? "");
            }
            catch (OutOfMemoryException)
            {
                // As in Write: the texts take memory.
            }
        }
    }

    /// <summary>Code of the user's, called where there is no caller that an exception could go to, threw.</summary>
    /// <param name="callback">The name of the option or event that it was given to.</param>
    /// <param name="exception">What it threw.</param>
    [NonEvent]
    public void CallbackFailed(string callback, Exception exception)
    {
        if (IsEnabled(EventLevel.Warning, EventKeywords.None))
        {
            try
            {
                CallbackFailed(callback, exception.GetType().FullName ?? "", exception.Message);
            }
            catch (Exception)
            {
                // The message of an exception of the user's own is the user's code again.
            }
        }
    }

    [Event(12, Level = EventLevel.Warning, Message = "{0} threw {1}: {2}")]
    private unsafe void CallbackFailed(string callback, string exceptionType, string message)
    {
        fixed (char* callbackText = callback, typeText = exceptionType, messageText = message)
        {
            EventData* data = stackalloc EventData[3];
            data[0] = Text(callbackText, callback);
            data[1] = Text(typeText, exceptionType);
            data[2] = Text(messageText, message);
            WriteOnce(12, 3, data);
        }
    }

    [Event(
        5,
        Level = EventLevel.Informational,
        Keywords = Keywords.Trimming,
        Message = "{0} bytes of idle memory trimmed: {1}. {2}: {3} of {4} bytes used")]
    private unsafe void MemoryTrimmed(long bytes, string reason, string source, long usedBytes, long totalBytes, string allocatorName)
    {
        fixed (char* reasonText = reason, sourceText = source, nameText = allocatorName)
        {
            EventData* data = stackalloc EventData[6];
            data[0] = Number(&bytes);
            data[1] = Text(reasonText, reason);
            data[2] = Text(sourceText, source);
            data[3] = Number(&usedBytes);
            data[4] = Number(&totalBytes);
            data[5] = Text(nameText, allocatorName);
            WriteOnce(5, 6, data);
        }
    }

    // A session that ends is told to the source before the source knows it: the next rent finds out.
    protected override void OnEventCommand(EventCommandEventArgs command) => FollowSessions();

    [NonEvent]
    private static unsafe EventData Number(long* number) => new() { DataPointer = (IntPtr)number, Size = sizeof(long) };

    [NonEvent]
    private static unsafe EventData Text(char* characters, string text) =>
        new() { DataPointer = (IntPtr)characters, Size = (text.Length + 1) * sizeof(char) };

    // The overloads of WriteEvent that fit would box the numbers, and reflect over them where code is trimmed.
    [NonEvent]
    private unsafe void WriteFinding(int eventId, long first, long second, string text)
    {
        fixed (char* characters = text)
        {
            EventData* data = stackalloc EventData[3];
            data[0] = Number(&first);
            data[1] = Number(&second);
            data[2] = Text(characters, text);
            Write(eventId, 3, data);
        }
    }

    // An event that cannot be written for want of memory must not end what it tells of half way.
    [NonEvent]
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Numbers and text only.")]
    private unsafe void Write(int eventId, int count, EventData* data)
    {
        try
        {
            WriteEventCore(eventId, count, data);
        }
        catch (Exception)
        {
            // It is lost.
        }
    }

    /// <summary>What can be asked for.</summary>
    public static class Keywords
    {
        /// <summary>Idle memory given back, and why.</summary>
        public const EventKeywords Trimming = (EventKeywords)1;

        /// <summary>Memory from the system and back to it.</summary>
        public const EventKeywords Memory = (EventKeywords)2;

        /// <summary>Requests that wait for a memory budget.</summary>
        public const EventKeywords Budget = (EventKeywords)4;

        /// <summary>Every rent and every return.</summary>
        public const EventKeywords Rents = (EventKeywords)8;
    }
}

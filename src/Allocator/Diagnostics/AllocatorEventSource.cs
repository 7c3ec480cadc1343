using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Tracing;

namespace Allocator.Diagnostics;

/// <summary>The library's events for <c>dotnet-trace</c>, PerfView and <see cref="EventListener"/>, named <c>Allocator</c>.</summary>
/// <remarks>
/// No event is written under a lock. The runtime swallows exceptions of listeners, and drops events that no session wants. Events without a
/// keyword are findings, which are always written; 1, 3 and 4 even while the thread is calling a listener for another event.
/// </remarks>
[EventSource(Name = SourceName)]
internal sealed class AllocatorEventSource : EventSource
{
    private const string SourceName = "Allocator";

    public static readonly AllocatorEventSource Log = new();

    // A listener that itself allocates would otherwise be notified of that, and allocate again.
    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static bool t_isWriting;
#pragma warning restore IDE1006

    // The name is passed here, because finding it in the attribute would make the runtime load code that takes three times as long as
    // everything else.
    private AllocatorEventSource()
        : base(SourceName, EventSourceSettings.EtwManifestEventFormat)
    {
    }

    /// <summary>Gets whether the calling thread is calling a listener, and would write no other event.</summary>
    public static bool IsWriting => t_isWriting;

    /// <summary>Gets whether any session wants single rents.</summary>
    public bool WritesRents => IsEnabled(EventLevel.Verbose, Keywords.Rents);

    public bool WritesBudgets => IsEnabled(EventLevel.Informational, Keywords.Budget);

    /// <summary>Memory was dropped without Dispose. The last two numbers are all that leaked from that place so far.</summary>
    [Event(1, Level = EventLevel.Warning, Version = 2, Message = "{0} bytes were dropped without Dispose; {4} leaks from this place")]
    public void AllocationAbandoned(
        long bytes, long ageMilliseconds, string allocationStackTrace, string allocatorName, long leaksThere, long bytesThere) =>
        Write(1, stackalloc[] { bytes, ageMilliseconds, leaksThere, bytesThere }, allocationStackTrace, allocatorName, leading: 2);

    /// <summary>Watched memory was written to outside a buffer, or after its return.</summary>
    [Event(3, Level = EventLevel.Error, Message = "{2}")]
    public void CorruptionFound(long bytes, long offset, string description) => Write(3, stackalloc[] { bytes, offset }, description);

    /// <summary>No file for allocation records could be made.</summary>
    [Event(4, Level = EventLevel.Warning, Message = "No record file, so faults will not be explained: {0}")]
    public void RecordsUnavailable(string reason) => Write(4, default, reason);

    /// <summary>The system supplied memory: to a block of the pool, or a mapping.</summary>
    [Event(6, Level = EventLevel.Informational, Keywords = Keywords.Memory, Message = "{0} bytes committed, {1} in total")]
    public void MemoryCommitted(long bytes, long committedBytes, string? allocatorName) =>
        WriteOnce(6, stackalloc[] { bytes, committedBytes }, allocatorName ?? "");

    /// <summary>Memory was returned to the system: that of a purged block, or a mapping.</summary>
    [Event(7, Level = EventLevel.Informational, Keywords = Keywords.Memory, Message = "{0} bytes returned to the system, {1} committed")]
    public void MemoryDecommitted(long bytes, long committedBytes, string? allocatorName) =>
        WriteOnce(7, stackalloc[] { bytes, committedBytes }, allocatorName ?? "");

    /// <summary>A buffer was rented: its id is the address of unmanaged memory, the hash code of an array.</summary>
    [Event(8, Level = EventLevel.Verbose, Keywords = Keywords.Rents, Message = "{1} bytes rented, with a capacity of {2}")]
    public void BufferRented(long bufferId, long requestedBytes, long bytes, string? allocatorName) =>
        WriteOnce(8, stackalloc[] { bufferId, requestedBytes, bytes }, allocatorName ?? "");

    /// <summary>A buffer whose rent was written was returned.</summary>
    [Event(9, Level = EventLevel.Verbose, Keywords = Keywords.Rents, Message = "{1} bytes returned after {2} ms")]
    public void BufferReturned(long bufferId, long bytes, long heldMilliseconds, string? allocatorName) =>
        WriteOnce(9, stackalloc[] { bufferId, bytes, heldMilliseconds }, allocatorName ?? "");

    /// <summary>
    /// A request does not fit the memory budget, or the container if there is none. Event 11 follows, at once if it may not wait.
    /// </summary>
    [Event(10, Level = EventLevel.Informational, Keywords = Keywords.Budget, Message = "{0} bytes do not fit: {1} of {2} are taken")]
    public void BudgetWaitBegan(long bytes, long usedBytes, long limitBytes, string? allocatorName) =>
        WriteOnce(10, stackalloc[] { bytes, usedBytes, limitBytes }, allocatorName ?? "");

    /// <summary>The wait of such a request ended: the outcome is <c>Granted</c> or <c>GivenUp</c>.</summary>
    [Event(11, Level = EventLevel.Informational, Keywords = Keywords.Budget, Message = "{0} bytes: {2} after {1} ms")]
    public void BudgetWaitEnded(long bytes, long waitedMilliseconds, string outcome, string? allocatorName) =>
        WriteOnce(11, stackalloc[] { bytes, waitedMilliseconds }, outcome, allocatorName ?? "");

    /// <summary>A reservation ended that had taken more than it had reserved.</summary>
    [Event(13, Level = EventLevel.Informational, Keywords = Keywords.Budget,
        Message = "A job reserved {0} bytes and took {1}; {2} requests exceeded the reservation")]
    public void ReservationExceeded(long reservedBytes, long peakUsedBytes, long overflowCount, string? allocatorName) =>
        WriteOnce(13, stackalloc[] { reservedBytes, peakUsedBytes, overflowCount }, allocatorName ?? "");

    /// <summary>An allocator without a limit granted its first reservation; none will ever wait.</summary>
    [Event(16, Level = EventLevel.Informational, Keywords = Keywords.Budget,
        Message = "Reservations never wait: set MemoryBudgetMegabytes or MinimumFreeMegabytes")]
    public void ReservationUnlimited(string? allocatorName) => WriteOnce(16, default, allocatorName ?? "");

    /// <summary>Idle memory of one allocator was returned. The load is the one that decided; otherwise it has no source.</summary>
    [NonEvent]
    public void MemoryTrimmed(string? allocatorName, long bytes, TrimReason reason, in MemoryLoad load)
    {
        try
        {
            if (IsEnabled(EventLevel.Informational, Keywords.Trimming))
            {
                MemoryTrimmed(bytes, reason.ToString(), load.Source.ToString(), load.UsedBytes, load.TotalBytes, allocatorName ?? "");
            }
        }
        catch (OutOfMemoryException)
        {
            // Out of memory, which may happen in Write too: the texts take some.
        }
    }

    /// <summary>User code threw on a thread of the library, where no caller could get the exception.</summary>
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
                // Reading the message of a user's exception runs user code again.
            }
        }
    }

    /// <summary>Traces rents while a session wants their events, and no longer.</summary>
    [NonEvent]
    public void FollowSessions()
    {
        bool isWanted = WritesRents;
        Tracing.SetForEvents(isWanted);
        if (WritesRents != isWanted)
        {
            // Another session began or ended meanwhile.
            Tracing.SetForEvents(!isWanted);
        }
    }

    // At the end of a session this is called while IsEnabled still returns true: the next rent notices the end.
    protected override void OnEventCommand(EventCommandEventArgs command) => FollowSessions();

    [Event(5, Level = EventLevel.Informational, Keywords = Keywords.Trimming,
        Message = "{0} bytes of idle memory trimmed: {1}. {2}: {3} of {4} bytes used")]
    private void MemoryTrimmed(long bytes, string reason, string source, long usedBytes, long totalBytes, string allocatorName) =>
        WriteOnce(5, stackalloc[] { bytes, usedBytes, totalBytes }, reason, source, allocatorName, leading: 1);

    [Event(12, Level = EventLevel.Warning, Message = "{0} threw {1}: {2}")]
    private void CallbackFailed(string callback, string exceptionType, string message) =>
        WriteOnce(12, default, callback, exceptionType, message);

    /// <summary>User code on the library's thread has not returned for a second.</summary>
    [Event(14, Level = EventLevel.Warning, Message = "{1} has not returned for {0} ms")]
    public void CallbackSlow(long milliseconds, string callback) => WriteOnce(14, stackalloc[] { milliseconds }, callback);

    /// <summary>The library has set malloc's map threshold, once in the process.</summary>
    [Event(15, Level = EventLevel.Informational, Message = "malloc maps from {0} bytes on: SetNativeMapThreshold")]
    public void NativeMapThresholdSet(long bytes, string? allocatorName) => WriteOnce(15, stackalloc[] { bytes }, allocatorName ?? "");

    // Not from within a listener that this thread is calling for another event.
    [NonEvent]
    private void WriteOnce(
        int eventId, ReadOnlySpan<long> numbers, string first, string? second = null, string? third = null, int leading = 3)
    {
        try
        {
            if (!IsEnabled() || t_isWriting)
            {
                return;
            }

            t_isWriting = true;
        }
        catch (OutOfMemoryException)
        {
            // The first use of a thread-static in a thread needs managed memory. The event must not make the reported operation fail.
            return;
        }

        try
        {
            Write(eventId, numbers, first, second, third, leading);
        }
        finally
        {
            t_isWriting = false;
        }
    }

    // In this order: the leading numbers, two texts, the other numbers, the third text. The fitting overloads of WriteEvent would box the
    // numbers, and reflect over them if code is trimmed.
    [NonEvent]
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Numbers and text only.")]
    private unsafe void Write(
        int eventId, ReadOnlySpan<long> numbers, string first, string? second = null, string? third = null, int leading = 3)
    {
        ShortLock.AssertNoneHeld();
        EventData* data = stackalloc EventData[numbers.Length + 3];
        int count = 0;
        fixed (long* number = numbers)
        fixed (char* firstText = first, secondText = second, thirdText = third)
        {
            for (int i = 0; i < leading && i < numbers.Length; i++)
            {
                Add(number + i, sizeof(long));
            }

            Add(firstText, TextSize(first));
            Add(secondText, TextSize(second));
            for (int i = leading; i < numbers.Length; i++)
            {
                Add(number + i, sizeof(long));
            }

            Add(thirdText, TextSize(third));
            try
            {
                WriteEventCore(eventId, count, data);
            }
            catch (Exception)
            {
                // The event is lost: if there is no memory for it, the operation that it reports must still go on.
            }
        }

        void Add(void* start, int size)
        {
            if (size > 0)
            {
                data[count++] = new EventData { DataPointer = (IntPtr)start, Size = size };
            }
        }

        static int TextSize(string? text) => text is null ? 0 : (text.Length + 1) * sizeof(char);
    }

    /// <summary>The keywords that a session can ask for.</summary>
    public static class Keywords
    {
        /// <summary>Idle memory that was released, and why.</summary>
        public const EventKeywords Trimming = (EventKeywords)1;

        /// <summary>Memory from the system and back to it.</summary>
        public const EventKeywords Memory = (EventKeywords)2;

        /// <summary>Requests that wait for a memory budget.</summary>
        public const EventKeywords Budget = (EventKeywords)4;

        /// <summary>Every rent and every return.</summary>
        public const EventKeywords Rents = (EventKeywords)8;
    }
}

using System;
using System.Diagnostics.Tracing;

namespace Allocator.Diagnostics;

/// <content>The events of single requests and of memory that comes and goes.</content>
internal sealed partial class AllocatorEventSource
{
    // A listener that itself allocates would otherwise be told of that, and allocate again.
    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static bool t_isWriting;
#pragma warning restore IDE1006

    /// <summary>Gets whether the calling thread is just telling a listener, and would not tell it of anything else.</summary>
    public static bool IsWriting
    {
        [NonEvent]
        get => t_isWriting;
    }

    /// <summary>The system gave memory: to a block of the pool, or a mapping.</summary>
    [NonEvent]
    public void MemoryCommitted(string? allocatorName, long bytes, long committedBytes)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Memory))
        {
            MemoryCommitted(bytes, committedBytes, allocatorName ?? "");
        }
    }

    /// <summary>The system has memory back: that of a purged block, or a mapping.</summary>
    [NonEvent]
    public void MemoryDecommitted(string? allocatorName, long bytes, long committedBytes)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Memory))
        {
            MemoryDecommitted(bytes, committedBytes, allocatorName ?? "");
        }
    }

    /// <summary>A buffer went out.</summary>
    /// <param name="bufferId">The address of unmanaged memory, the hash code of an array.</param>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="bytes">The capacity that it has.</param>
    /// <param name="allocatorName">The allocator's name; empty for none.</param>
    [Event(8, Level = EventLevel.Verbose, Keywords = Keywords.Rents, Message = "{1} bytes rented, {2} with what was not asked for")]
    public void BufferRented(long bufferId, long requestedBytes, long bytes, string allocatorName) =>
        WriteAmounts(8, bufferId, requestedBytes, bytes, allocatorName);

    /// <summary>A buffer whose going out was written came back.</summary>
    [Event(9, Level = EventLevel.Verbose, Keywords = Keywords.Rents, Message = "{1} bytes returned after {2} ms")]
    public void BufferReturned(long bufferId, long bytes, long heldMilliseconds, string allocatorName) =>
        WriteAmounts(9, bufferId, bytes, heldMilliseconds, allocatorName);

    /// <summary>A request found no room in the memory budget. Those that may not wait are told so next.</summary>
    [NonEvent]
    public void BudgetWaitBegan(string? allocatorName, long bytes, long usedBytes, long limitBytes)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Budget))
        {
            BudgetWaitBegan(bytes, usedBytes, limitBytes, allocatorName ?? "");
        }
    }

    /// <summary>A request that found no room is settled: let in, or given up.</summary>
    [NonEvent]
    public void BudgetWaitEnded(string? allocatorName, long bytes, long waitedMilliseconds, bool isGranted)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Budget))
        {
            BudgetWaitEnded(bytes, waitedMilliseconds, isGranted ? "Granted" : "GivenUp", allocatorName ?? "");
        }
    }

    /// <summary>A reservation ended that had taken more than it had reserved.</summary>
    [NonEvent]
    public void ReservationExceeded(string? allocatorName, long reservedBytes, long peakUsedBytes, long overflowCount)
    {
        if (IsEnabled(EventLevel.Informational, Keywords.Budget))
        {
            ReservationExceeded(reservedBytes, peakUsedBytes, overflowCount, allocatorName ?? "");
        }
    }

    [Event(6, Level = EventLevel.Informational, Keywords = Keywords.Memory, Message = "{0} bytes committed, {1} in all")]
    private void MemoryCommitted(long bytes, long committedBytes, string allocatorName) =>
        WriteAmounts(6, bytes, committedBytes, allocatorName);

    [Event(7, Level = EventLevel.Informational, Keywords = Keywords.Memory, Message = "{0} bytes given back to the system, {1} left")]
    private void MemoryDecommitted(long bytes, long committedBytes, string allocatorName) =>
        WriteAmounts(7, bytes, committedBytes, allocatorName);

    [Event(10, Level = EventLevel.Informational, Keywords = Keywords.Budget, Message = "{0} bytes find no room: {1} of {2} are taken")]
    private void BudgetWaitBegan(long bytes, long usedBytes, long limitBytes, string allocatorName) =>
        WriteAmounts(10, bytes, usedBytes, limitBytes, allocatorName);

    [Event(11, Level = EventLevel.Informational, Keywords = Keywords.Budget, Message = "{0} bytes: {2} after {1} ms")]
    private unsafe void BudgetWaitEnded(long bytes, long waitedMilliseconds, string outcome, string allocatorName)
    {
        fixed (char* outcomeText = outcome, name = allocatorName)
        {
            EventData* data = stackalloc EventData[4];
            data[0] = Number(&bytes);
            data[1] = Number(&waitedMilliseconds);
            data[2] = Text(outcomeText, outcome);
            data[3] = Text(name, allocatorName);
            WriteOnce(11, 4, data);
        }
    }

    [Event(
        13,
        Level = EventLevel.Informational,
        Keywords = Keywords.Budget,
        Message = "A job that had reserved {0} bytes took {1}, and exceeded them {2} times")]
    private void ReservationExceeded(long reservedBytes, long peakUsedBytes, long overflowCount, string allocatorName) =>
        WriteAmounts(13, reservedBytes, peakUsedBytes, overflowCount, allocatorName);

    /// <summary>Has rents traced while a session wants their events, and no longer.</summary>
    [NonEvent]
    public void FollowSessions()
    {
        bool isWanted = WritesRents;
        TraceSwitch.SetForEvents(isWanted);
        if (WritesRents != isWanted)
        {
            // Another session began or ended meanwhile.
            TraceSwitch.SetForEvents(!isWanted);
        }
    }

    [NonEvent]
    private unsafe void WriteAmounts(int eventId, long first, long second, string text)
    {
        fixed (char* characters = text)
        {
            EventData* data = stackalloc EventData[3];
            data[0] = Number(&first);
            data[1] = Number(&second);
            data[2] = Text(characters, text);
            WriteOnce(eventId, 3, data);
        }
    }

    [NonEvent]
    private unsafe void WriteAmounts(int eventId, long first, long second, long third, string text)
    {
        fixed (char* characters = text)
        {
            EventData* data = stackalloc EventData[4];
            data[0] = Number(&first);
            data[1] = Number(&second);
            data[2] = Number(&third);
            data[3] = Text(characters, text);
            WriteOnce(eventId, 4, data);
        }
    }

    // Not from within a listener that this thread is telling of another event.
    [NonEvent]
    private unsafe void WriteOnce(int eventId, int count, EventData* data)
    {
        try
        {
            if (t_isWriting)
            {
                return;
            }

            t_isWriting = true;
        }
        catch (OutOfMemoryException)
        {
            // A thread's first use of a thread-static needs managed memory. What the event tells of must not fail for it.
            return;
        }

        try
        {
            Write(eventId, count, data);
        }
        finally
        {
            t_isWriting = false;
        }
    }
}

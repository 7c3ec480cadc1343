using System;
using System.Globalization;

namespace Allocator.Diagnostics;

/// <summary>
/// The caller and the time of one allocation. Made only while a listener wants it. It does not reference the memory's guard: a list of
/// traces would otherwise keep memory alive that was dropped.
/// </summary>
internal sealed class AllocationTrace : IBackgroundWork
{
    private readonly long _startedMilliseconds = Environment.TickCount64;
    private readonly AllocationScope? _scope;
    private long _bufferId;
    private bool _wasWritten;
    private BackgroundState _work;

    /// <summary>Traces an allocation that the calling thread begins now.</summary>
    /// <param name="bytes">Its capacity in bytes.</param>
    /// <param name="allocatorName">The name that the user gave the allocator.</param>
    /// <param name="scope">The scope that it belongs to, if any; it wants the stack.</param>
    /// <param name="keepsStack">Whether the stack is wanted, which costs far more than all the rest.</param>
    public AllocationTrace(long bytes, string? allocatorName, AllocationScope? scope, bool keepsStack)
    {
        Bytes = bytes;
        AllocatorName = allocatorName;
        StackTrace = keepsStack ? CallerStack.Capture() : null;
        _scope = scope;
        scope?.Add(this);
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    public long Bytes { get; }

    public string? AllocatorName { get; }

    /// <summary>Gets the stack of the allocating call, where it was kept.</summary>
    public string? StackTrace { get; }

    public TimeSpan Age => TimeSpan.FromMilliseconds(Environment.TickCount64 - _startedMilliseconds);

    /// <summary>Writes the event of the rent, where a listener wants it. The memory is in its place, and no lock is held.</summary>
    public void WriteRented(long bufferId, long requestedBytes)
    {
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (log.WritesRents)
        {
            // What a listener rents is not written; nor is its return then, wherever that happens.
            _bufferId = bufferId;
            _wasWritten = !AllocatorEventSource.IsWriting;
            log.BufferRented(bufferId, requestedBytes, Bytes, AllocatorName ?? "");
        }
        else
        {
            log.FollowSessions();
        }
    }

    /// <summary>Notes that the memory is back, or that it was found abandoned and its scope need not name it.</summary>
    public void End(TraceEnd end)
    {
        _scope?.Remove(this);
        if (!_wasWritten || end == TraceEnd.Abandoned)
        {
            return;
        }

        if (end == TraceEnd.ReturnedByFinalizer)
        {
            // A listener may take as long as it likes, but not on that thread.
            Background.Queue(this);
        }
        else
        {
            WriteReturned();
        }
    }

    /// <summary>Gets or sets the stack of the call that gave the memory back, where that was kept.</summary>
    public string? ReturnStackTrace { get; set; }

    /// <summary>Gets in words how long ago, from which allocator and where it was allocated, and where it was given back.</summary>
    public string Origin => string.Format(
        CultureInfo.InvariantCulture,
        "allocated {0:0.0} s ago{1}{2}{3}",
        Age.TotalSeconds,
        AllocatorName is null ? "" : $" from {AllocatorName}",
        StackTrace is null ? "." : $", at:\n{StackTrace}",
        ReturnStackTrace is null ? "" : $"\nIt was given back at:\n{ReturnStackTrace}");

    public override string ToString() => string.Format(CultureInfo.InvariantCulture, "{0:N0} bytes, {1}", Bytes, Origin);

    void IBackgroundWork.DoWork() => WriteReturned();

    private void WriteReturned()
    {
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (log.WritesRents)
        {
            log.BufferReturned(_bufferId, Bytes, (long)Age.TotalMilliseconds, AllocatorName ?? "");
        }
    }
}

/// <summary>How a traced rent came to its end.</summary>
internal enum TraceEnd
{
    /// <summary>By a call of the user's.</summary>
    Returned,

    /// <summary>By a finalizer of the user's, which disposed what was unreachable like itself.</summary>
    ReturnedByFinalizer,

    /// <summary>It was dropped without Dispose, or never began. No return is written.</summary>
    Abandoned,
}

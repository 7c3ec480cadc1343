namespace Allocator.Diagnostics;

/// <summary>
/// The caller and the time of one allocation. Made only while a listener wants it. It does not reference the memory's guard: otherwise a
/// list of traces would keep dropped memory alive.
/// </summary>
internal sealed class AllocationTrace : IBackgroundWork
{
    private readonly long _startedMilliseconds = Environment.TickCount64;
    private readonly AllocationScope? _scope;
    private long _bufferId;
    private bool _wasWritten;
    private BackgroundState _work;

    // The stack costs far more than all the rest.
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

    /// <summary>Gets the stack of the allocating call; null if it was not kept.</summary>
    public string? StackTrace { get; }

    public TimeSpan Age => TimeSpan.FromMilliseconds(Environment.TickCount64 - _startedMilliseconds);

    /// <summary>Writes the event of the rent if a listener wants it. The memory is ready, and no lock is held.</summary>
    public void WriteRented(long bufferId, long requestedBytes)
    {
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (log.WritesRents)
        {
            // Rents of a listener itself are not written, nor are their returns, on any thread.
            _bufferId = bufferId;
            _wasWritten = !AllocatorEventSource.IsWriting;
            log.BufferRented(bufferId, requestedBytes, Bytes, AllocatorName);
        }
        else
        {
            log.FollowSessions();
        }
    }

    /// <summary>Notes that the memory was returned, or found abandoned, so that its scope need not list it.</summary>
    public void End(TraceEnd end)
    {
        _scope?.Remove(this);
        if (!_wasWritten || end == TraceEnd.Abandoned)
        {
            return;
        }

        if (end == TraceEnd.ReturnedByFinalizer)
        {
            // A listener may take long, but not on that thread.
            BackgroundThread.Shared.Queue(this);
        }
        else
        {
            WriteReturned();
        }
    }

    /// <summary>Gets or sets the stack of the call that returned the memory; null if it was not kept.</summary>
    public string? ReturnStackTrace { get; set; }

    /// <summary>Gets a text: the age and allocator of the allocation, its stack, and the stack of its return.</summary>
    public string Origin
    {
        get
        {
            string from = AllocatorName is null ? "" : $" from {AllocatorName}";
            string at = StackTrace is null ? "." : $", at:\n{StackTrace}";
            string returned = ReturnStackTrace is null ? "" : $"\nIt was given back at:\n{ReturnStackTrace}";
            return Invariant($"allocated {Age.TotalSeconds:0.0} s ago{from}{at}{returned}");
        }
    }

    public override string ToString() => Invariant($"{Bytes:N0} bytes, {Origin}");

    void IBackgroundWork.DoWork() => WriteReturned();

    private void WriteReturned()
    {
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (log.WritesRents)
        {
            log.BufferReturned(_bufferId, Bytes, (long)Age.TotalMilliseconds, AllocatorName);
        }
    }
}

/// <summary>How a traced rent ended.</summary>
internal enum TraceEnd
{
    /// <summary>By a call of the user.</summary>
    Returned,

    /// <summary>By a finalizer of the user, which disposed an object that was unreachable like itself.</summary>
    ReturnedByFinalizer,

    /// <summary>It was dropped without Dispose, or never began. No return is written.</summary>
    Abandoned,
}

/// <summary>Whether rents are traced. Every rent reads it, so it is a class of its own, without a type initializer.</summary>
internal static class Tracing
{
    private const int RentsForDiagnostics = 1;
    private const int ArraysForDiagnostics = 2;
    private const int RentsForEvents = 4;

    // One word, so that a rent reads only one. Changed by compare-exchange: the event source is notified under locks of the runtime, and
    // must not wait for one of ours.
    private static int s_wanted;

    /// <summary>Gets whether rents of unmanaged memory ask <see cref="MemoryDiagnostics.TryTrace"/>.</summary>
    public static bool Rents => (s_wanted & (RentsForDiagnostics | RentsForEvents)) != 0;

    /// <summary>Gets whether rents of arrays do.</summary>
    public static bool Arrays => (s_wanted & (ArraysForDiagnostics | RentsForEvents)) != 0;

    public static void SetForDiagnostics(bool rents, bool arrays) =>
        Change(RentsForDiagnostics | ArraysForDiagnostics, (rents ? RentsForDiagnostics : 0) | (arrays ? ArraysForDiagnostics : 0));

    public static void SetForEvents(bool rents) => Change(RentsForEvents, rents ? RentsForEvents : 0);

    private static void Change(int bits, int values)
    {
        for (int seen = Volatile.Read(ref s_wanted), found; (seen & bits) != values; seen = found)
        {
            found = Interlocked.CompareExchange(ref s_wanted, (seen & ~bits) | values, seen);
            if (found == seen)
            {
                return;
            }
        }
    }
}

using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// Releases the free memory of malloc, if that is worth it: each of malloc's arenas is locked in turn meanwhile. One for the process.
/// Thread-safe; never called under a lock that a rent or a return takes.
/// </summary>
internal sealed class NativeHeapTrimmer(Clock clock, Func<bool> trim, Func<long> readResident) : IBackgroundWork
{
    private const int ShortestPeriodMilliseconds = 1000;

    // Trims may take a twentieth of the time at most.
    private const int LongestPart = 20;

    private AllocatorCounters? _requestedBy;
    private BackgroundState _work;
    private long _notBeforeMilliseconds = long.MinValue;
    private long _notAgainBeforeMilliseconds = long.MinValue;
    private int _isBusy;

    public static NativeHeapTrimmer Shared { get; } = new(SystemClock.Instance, LibC.TryTrimHeap, SystemMemory.Shared.ReadResidentBytes);

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Trims on the background thread, for callers that must not wait.</summary>
    public void Request(AllocatorCounters counters)
    {
        if (IsDue)
        {
            Volatile.Write(ref _requestedBy, counters);
            BackgroundThread thread = BackgroundThread.Long.IsRunning ? BackgroundThread.Long : BackgroundThread.Shared;
            thread.Ensure();
            thread.Queue(this);
        }
    }

    /// <summary>
    /// Trims on this thread, unless that was done lately or another thread does it now. The thread that ends waits and ticks only
    /// requests it, because a trim may take seconds.
    /// </summary>
    /// <param name="counters">The counters of the allocator that wants it.</param>
    /// <param name="isAgain">Whether to trim even if the last trim, if it was short, was less than a second ago.</param>
    public void TryTrim(AllocatorCounters counters, bool isAgain = false)
    {
        if (BackgroundThread.LeavesToLong)
        {
            Request(counters);
        }
        else
        {
            TryTrim(counters, ref isAgain ? ref _notAgainBeforeMilliseconds : ref _notBeforeMilliseconds);
        }
    }

    private void TryTrim(AllocatorCounters counters, ref long notBefore)
    {
        ShortLock.AssertNoneHeld();
        if (clock.NowMilliseconds < Volatile.Read(ref notBefore) || Interlocked.Exchange(ref _isBusy, 1) != 0)
        {
            return;
        }

        try
        {
            if (clock.NowMilliseconds >= Volatile.Read(ref notBefore))
            {
                Trim(counters);
            }
        }
        finally
        {
            Volatile.Write(ref _isBusy, 0);
        }
    }

    void IBackgroundWork.DoWork()
    {
        if (Interlocked.Exchange(ref _requestedBy, null) is AllocatorCounters counters)
        {
            TryTrim(counters);
        }
    }

    private bool IsDue => clock.NowMilliseconds >= Volatile.Read(ref _notBeforeMilliseconds);

    private void Trim(AllocatorCounters counters)
    {
        long before = readResident();
        long begun = clock.NowMilliseconds;
        if (!trim())
        {
            // The C library is not glibc, and that does not change.
            Volatile.Write(ref _notBeforeMilliseconds, long.MaxValue);
            Volatile.Write(ref _notAgainBeforeMilliseconds, long.MaxValue);
            return;
        }

        long ended = clock.NowMilliseconds;
        Volatile.Write(ref _notBeforeMilliseconds, ended + Math.Max(ShortestPeriodMilliseconds, LongestPart * (ended - begun)));
        Volatile.Write(ref _notAgainBeforeMilliseconds, ended + (LongestPart * (ended - begun)));
        counters.CountNativeHeapTrim(Math.Max(0, before - readResident()), ended - begun);
    }
}

using System;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Trimming;

/// <summary>
/// What is done, once for the whole process and at most once a second, before memory is refused that the container does not have: free memory of malloc is given back, and a blocking collection runs. Thread-safe.
/// </summary>
internal sealed class LastResort
{
    // The alternative is death; but a process that is refused memory all the time must not collect all the time.
    private const int PeriodMilliseconds = 1000;

    // Finalizers bring back what was dropped.
    private const int GraceMilliseconds = 100;

    private readonly object _lock = new();
    private readonly Clock _clock;
    private readonly Action _collect;
    private long? _endedMilliseconds;

    /// <param name="clock">The time to go by.</param>
    /// <param name="collect">Collects, and comes back when that is done.</param>
    public LastResort(Clock clock, Action collect)
    {
        _clock = clock;
        _collect = collect;
    }

    /// <summary>Does it, or waits for the thread that does it just now. Blocks the caller; an interrupt takes effect.</summary>
    /// <param name="mayCollect">Whether the user lets collections be forced.</param>
    /// <param name="heapTrimmer">What gives malloc's memory back; null where that is not wanted.</param>
    /// <param name="counters">Whose trim of malloc's memory it is.</param>
    /// <returns>Whether finalizers may still bring back what it found: it is worth waiting a little.</returns>
    public bool Run(bool mayCollect, NativeHeapTrimmer? heapTrimmer, AllocatorCounters counters)
    {
        lock (_lock)
        {
            if (_endedMilliseconds is null || _clock.NowMilliseconds - _endedMilliseconds >= PeriodMilliseconds)
            {
                heapTrimmer?.TryTrim(counters);
                if (mayCollect)
                {
                    _collect();
                }

                _endedMilliseconds = _clock.NowMilliseconds;
            }

            return mayCollect && _clock.NowMilliseconds - _endedMilliseconds < GraceMilliseconds;
        }
    }
}

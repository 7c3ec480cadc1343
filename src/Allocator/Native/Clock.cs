using System;
using System.Threading;

namespace Allocator.Native;

/// <summary>The time, and what happens later. Replaced in tests, which therefore never wait.</summary>
internal abstract class Clock
{
    private long _coarseMilliseconds;

    /// <summary>Gets a time that only grows, in milliseconds.</summary>
    public abstract long NowMilliseconds { get; }

    /// <summary>
    /// Gets <see cref="NowMilliseconds"/> as it was at the last <see cref="RefreshCoarse"/>: one read, cheap enough for every rent.
    /// </summary>
    public long CoarseMilliseconds => _coarseMilliseconds;

    /// <summary>Updates <see cref="CoarseMilliseconds"/>. Called where time is spent anyway: at ticks and on slow paths.</summary>
    public void RefreshCoarse() => _coarseMilliseconds = NowMilliseconds;

    /// <summary>Makes a timer, not yet running, that calls back on the thread pool.</summary>
    public abstract ClockTimer CreateTimer(Action callback);

    /// <summary>Blocks the calling thread until a handle is set, or the time is over.</summary>
    /// <param name="handle">The handle.</param>
    /// <param name="timeout">The time; below zero for any.</param>
    public abstract void Wait(WaitHandle handle, TimeSpan timeout);

    /// <summary>Blocks the calling thread: the pause between two tries for memory.</summary>
    public abstract void Delay(TimeSpan duration);
}

/// <summary>A timer that fires once for every <see cref="Start"/>.</summary>
internal abstract class ClockTimer : IDisposable
{
    /// <summary>Fires once after <paramref name="due"/>; replaces what was set before.</summary>
    public abstract void Start(TimeSpan due);

    /// <summary>Cancels the last <see cref="Start"/>.</summary>
    public abstract void Stop();

    public abstract void Dispose();
}

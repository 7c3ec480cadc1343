namespace Allocator.Native;

/// <summary>The time, and what happens later. Replaced in tests, which therefore never wait.</summary>
internal abstract class Clock
{
    /// <summary>Gets a time that only grows, in milliseconds.</summary>
    public abstract long NowMilliseconds { get; }

    /// <summary>Gets the time of the last <see cref="RefreshCoarse"/>: one read, cheap enough for every rent.</summary>
    public long CoarseMilliseconds { get; private set; }

    /// <summary>Updates <see cref="CoarseMilliseconds"/>. Called where time is spent anyway: at ticks and on slow paths.</summary>
    public void RefreshCoarse() => CoarseMilliseconds = NowMilliseconds;

    /// <summary>Has work done by <see cref="BackgroundThread.Shared"/> at a time, if it is not to be done sooner anyway.</summary>
    public abstract void RunBy(IBackgroundWork work, long dueMilliseconds);

    /// <summary>Has work not done, unless it has begun.</summary>
    public abstract void Cancel(IBackgroundWork work);

    /// <summary>Blocks until a handle is set, or the time is over; a time below zero never is.</summary>
    public abstract void Wait(WaitHandle handle, TimeSpan timeout);

    /// <summary>Blocks the calling thread: the pause between two tries for memory.</summary>
    public abstract void Delay(TimeSpan duration);
}

/// <summary>The machine's clock.</summary>
internal sealed class SystemClock : Clock
{
    public static readonly SystemClock Instance = new();

    private SystemClock() => RefreshCoarse();

    public override long NowMilliseconds => Environment.TickCount64;

    public override void RunBy(IBackgroundWork work, long dueMilliseconds) => BackgroundThread.Shared.RunBy(work, dueMilliseconds);

    public override void Cancel(IBackgroundWork work) => BackgroundThread.Shared.Cancel(work);

    public override void Wait(WaitHandle handle, TimeSpan timeout)
    {
        ShortLock.AssertNoneHeld();
        handle.WaitOne(timeout);
    }

    public override void Delay(TimeSpan duration)
    {
        ShortLock.AssertNoneHeld();
        Thread.Sleep(duration);
    }
}

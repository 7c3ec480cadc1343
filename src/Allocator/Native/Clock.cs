namespace Allocator.Native;

/// <summary>The time, and work to be done later. Tests replace it, and so never wait.</summary>
internal abstract class Clock
{
    /// <summary>Gets a time that only grows, in milliseconds.</summary>
    public abstract long NowMilliseconds { get; }

    /// <summary>Gets the time of the last <see cref="RefreshCoarse"/>: one read, cheap enough for every rent.</summary>
    public long CoarseMilliseconds { get; private set; }

    /// <summary>Updates <see cref="CoarseMilliseconds"/>. Called on paths that take time anyway: at ticks and on slow paths.</summary>
    public void RefreshCoarse() => CoarseMilliseconds = NowMilliseconds;

    /// <summary>Schedules work on <see cref="BackgroundThread.Shared"/> for a time, unless it is due sooner anyway.</summary>
    public abstract void RunBy(IBackgroundWork work, long dueMilliseconds);

    public abstract void Cancel(IBackgroundWork work);

    /// <summary>Blocks until a handle is set or the time is over. A negative time has no end.</summary>
    public abstract void Wait(WaitHandle handle, TimeSpan timeout);

    /// <summary>Blocks the calling thread: the pause between two tries for memory. Zero is none.</summary>
    public abstract void Delay(TimeSpan duration);

    /// <summary>As <see cref="Delay"/>, without blocking a thread.</summary>
    public virtual Task DelayAsync(TimeSpan duration)
    {
        if (duration == TimeSpan.Zero)
        {
            return Task.CompletedTask;
        }

        // Without the thread nothing would end it.
        BackgroundThread.Shared.Start();
        Completion over = new();
        RunBy(over, NowMilliseconds + (long)duration.TotalMilliseconds);
        return over.Task;
    }
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
        if (duration > TimeSpan.Zero)
        {
            Thread.Sleep(duration);
        }
    }
}

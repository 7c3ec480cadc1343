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

    /// <summary>Makes a timer, not yet running, that calls back on the thread pool.</summary>
    public abstract ClockTimer CreateTimer(Action callback);

    /// <summary>Blocks until a handle is set, or the time is over; a time below zero never is.</summary>
    public abstract void Wait(WaitHandle handle, TimeSpan timeout);

    /// <summary>Blocks the calling thread: the pause between two tries for memory.</summary>
    public abstract void Delay(TimeSpan duration);
}

/// <summary>A timer that fires once for every <see cref="Start"/>, which replaces the one before.</summary>
internal abstract class ClockTimer : IDisposable
{
    public abstract void Start(TimeSpan due);

    public abstract void Stop();

    public abstract void Dispose();
}

/// <summary>The machine's clock.</summary>
internal sealed class SystemClock : Clock
{
    public static readonly SystemClock Instance = new();

    private SystemClock() => RefreshCoarse();

    public override long NowMilliseconds => Environment.TickCount64;

    public override ClockTimer CreateTimer(Action callback) => new SystemTimer(callback);

    public override void Wait(WaitHandle handle, TimeSpan timeout) => handle.WaitOne(timeout);

    public override void Delay(TimeSpan duration) => Thread.Sleep(duration);

    private sealed class SystemTimer(Action callback) : ClockTimer
    {
        private readonly Timer _timer = Background.CreateTimer(callback);

        public override void Start(TimeSpan due) => _timer.Change(due, Timeout.InfiniteTimeSpan);

        public override void Stop() => _timer.Change(Timeout.Infinite, Timeout.Infinite);

        public override void Dispose() => _timer.Dispose();
    }
}

namespace Allocator.Tests.Fakes;

/// <summary>A clock that stands still until a test moves it; what is due is then done on the test's own thread.</summary>
internal sealed class FakeClock : Clock
{
    private readonly Dictionary<IBackgroundWork, long> _due = [];
    private long _now = 1_000_000;
    private int _waits;

    public override long NowMilliseconds => _now;

    /// <summary>Gets the pauses that were asked for.</summary>
    public List<TimeSpan> Delays { get; } = [];

    /// <summary>Gets or sets what happens in such a pause.</summary>
    public Action? OnDelay { get; set; }

    /// <summary>Gets or sets whether asynchronous pauses last until time moves. Otherwise they are as the others, and over at once.</summary>
    public bool HoldsAsyncDelays { get; set; }

    /// <summary>Gets how much is to be done later.</summary>
    public int RunningTimers => Due.Length;

    /// <summary>Gets how long it is until the next of it.</summary>
    public TimeSpan? NextTimer => Due is { Length: > 0 } due ? TimeSpan.FromMilliseconds(due.Min(static next => next.Value) - _now) : null;

    public int TimersFired { get; private set; }

    /// <summary>Gets or sets what happens before something is to be done later.</summary>
    public Action? OnTimerStart { get; set; }

    /// <summary>Gets or sets what happens when a thread has begun to wait, on that thread.</summary>
    public Action? OnWait { get; set; }

    /// <summary>Gets how many threads have begun to wait.</summary>
    public int Waits => Volatile.Read(ref _waits);

    // A copy: what a finalizer has found may add to it on another thread.
    private KeyValuePair<IBackgroundWork, long>[] Due
    {
        get
        {
            lock (_due)
            {
                return [.. _due];
            }
        }
    }

    public override void RunBy(IBackgroundWork work, long dueMilliseconds)
    {
        OnTimerStart?.Invoke();
        lock (_due)
        {
            _due[work] = _due.TryGetValue(work, out long due) ? Math.Min(due, dueMilliseconds) : dueMilliseconds;
        }
    }

    public override void Cancel(IBackgroundWork work)
    {
        lock (_due)
        {
            _due.Remove(work);
        }
    }

    public override void Wait(WaitHandle handle, TimeSpan timeout)
    {
        using ManualResetEvent over = new(initialState: false);
        SetEvent timer = new(over);
        RunBy(timer, timeout >= TimeSpan.Zero ? _now + (long)timeout.TotalMilliseconds : long.MaxValue);
        Interlocked.Increment(ref _waits);
        OnWait?.Invoke();
        try
        {
            WaitHandle.WaitAny([handle, over]);
        }
        finally
        {
            Cancel(timer);
        }
    }

    public override void Delay(TimeSpan duration)
    {
        if (duration > TimeSpan.Zero)
        {
            Delays.Add(duration);
            OnDelay?.Invoke();
        }
    }

    public override Task DelayAsync(TimeSpan duration)
    {
        if (HoldsAsyncDelays)
        {
            return base.DelayAsync(duration);
        }

        Delay(duration);
        return Task.CompletedTask;
    }

    /// <summary>Moves time on, and does on the way what is due, in order.</summary>
    public void Advance(TimeSpan duration)
    {
        long end = _now + (long)duration.TotalMilliseconds;
        while (Due.Where(next => next.Value <= end).OrderBy(static next => next.Value).FirstOrDefault() is { Key: { } work } next)
        {
            Cancel(work);
            _now = Math.Max(_now, next.Value);
            TimersFired++;
            BackgroundThread.Shared.Run(work);
        }

        _now = end;
    }

    private sealed class SetEvent(ManualResetEvent over) : IBackgroundWork
    {
        private BackgroundState _work;

        public ref BackgroundState State => ref _work;

        public void DoWork() => over.Set();
    }
}

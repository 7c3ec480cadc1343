namespace Allocator.Tests.Fakes;

/// <summary>A clock that stands still until a test moves it; timers then fire on the test's own thread.</summary>
internal sealed class FakeClock : Clock
{
    private readonly List<FakeTimer> _timers = [];
    private long _now = 1_000_000;
    private int _waits;

    public override long NowMilliseconds => _now;

    /// <summary>Gets the pauses that were asked for.</summary>
    public List<TimeSpan> Delays { get; } = [];

    /// <summary>Gets or sets what happens in such a pause.</summary>
    public Action? OnDelay { get; set; }

    public int RunningTimers => Timers.Count(static timer => timer.Due is not null);

    /// <summary>Gets how long it is until the next timer fires.</summary>
    public TimeSpan? NextTimer => Timers.Min(static timer => timer.Due) is long due ? TimeSpan.FromMilliseconds(due - _now) : null;

    public int TimersFired { get; private set; }

    // A copy: the scheduler may make one on the thread pool, because of what a finalizer has found.
    private FakeTimer[] Timers
    {
        get
        {
            lock (_timers)
            {
                return [.. _timers];
            }
        }
    }

    public bool FailToMakeTimers { get; set; }

    /// <summary>Gets or sets what happens before a timer is started.</summary>
    public Action? OnTimerStart { get; set; }

    public override ClockTimer CreateTimer(Action callback)
    {
        if (FailToMakeTimers)
        {
            throw new InvalidOperationException("No timer.");
        }

        FakeTimer timer = new(this, callback);
        lock (_timers)
        {
            _timers.Add(timer);
        }

        return timer;
    }

    /// <summary>Gets or sets what happens when a thread has begun to wait, on that thread.</summary>
    public Action? OnWait { get; set; }

    /// <summary>Gets how many threads have begun to wait.</summary>
    public int Waits => Volatile.Read(ref _waits);

    public override void Wait(WaitHandle handle, TimeSpan timeout)
    {
        using ManualResetEvent over = new(initialState: false);
        using ClockTimer timer = CreateTimer(() => over.Set());
        if (timeout >= TimeSpan.Zero)
        {
            timer.Start(timeout);
        }

        Interlocked.Increment(ref _waits);
        OnWait?.Invoke();
        WaitHandle.WaitAny([handle, over]);
    }

    public override void Delay(TimeSpan duration)
    {
        Delays.Add(duration);
        OnDelay?.Invoke();
    }

    /// <summary>Moves time on, and fires on the way what is due, in order.</summary>
    public void Advance(TimeSpan duration)
    {
        long end = _now + (long)duration.TotalMilliseconds;
        while (Timers.Where(timer => timer.Due <= end).OrderBy(static timer => timer.Due).FirstOrDefault() is FakeTimer next)
        {
            _now = Math.Max(_now, next.Due!.Value);
            TimersFired++;
            next.Fire();
        }

        _now = end;
    }

    private sealed class FakeTimer : ClockTimer
    {
        private readonly FakeClock _clock;
        private readonly Action _callback;

        public FakeTimer(FakeClock clock, Action callback)
        {
            _clock = clock;
            _callback = callback;
        }

        public long? Due { get; private set; }

        public override void Start(TimeSpan due)
        {
            _clock.OnTimerStart?.Invoke();
            Due = _clock._now + (long)due.TotalMilliseconds;
        }

        public override void Stop() => Due = null;

        public override void Dispose() => Due = null;

        public void Fire()
        {
            Due = null;
            _callback();
        }
    }
}

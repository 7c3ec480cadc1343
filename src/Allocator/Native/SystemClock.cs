using System;
using System.Threading;

namespace Allocator.Native;

/// <summary>The machine's clock.</summary>
internal sealed class SystemClock : Clock
{
    public static readonly SystemClock Instance = new();

    private SystemClock() => RefreshCoarse();

    public override long NowMilliseconds => Environment.TickCount64;

    public override ClockTimer CreateTimer(Action callback) => new SystemTimer(callback);

    public override void Wait(WaitHandle handle, TimeSpan timeout) => handle.WaitOne(timeout);

    public override void Delay(TimeSpan duration) => Thread.Sleep(duration);

    private sealed class SystemTimer : ClockTimer
    {
        private readonly Timer _timer;

        public SystemTimer(Action callback) => _timer = Background.CreateTimer(callback);

        public override void Start(TimeSpan due) => _timer.Change(due, Timeout.InfiniteTimeSpan);

        public override void Stop() => _timer.Change(Timeout.Infinite, Timeout.Infinite);

        public override void Dispose() => _timer.Dispose();
    }
}

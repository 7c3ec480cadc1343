using Allocator.Native;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A clock that stands still, and makes no calls.</summary>
internal sealed class StillClock : Clock
{
    public override long NowMilliseconds => 1000;

    public override ClockTimer CreateTimer(Action callback) => new NoTimer();

    public override void Wait(WaitHandle handle, TimeSpan timeout) => throw new InvalidOperationException("No scenario blocks a thread.");

    public override void Delay(TimeSpan duration)
    {
    }

    private sealed class NoTimer : ClockTimer
    {
        public override void Start(TimeSpan due)
        {
        }

        public override void Stop()
        {
        }

        public override void Dispose()
        {
        }
    }
}

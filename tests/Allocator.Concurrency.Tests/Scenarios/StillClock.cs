using Allocator.Native;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A clock that stands still, and makes no calls.</summary>
internal sealed class StillClock : Clock
{
    public override long NowMilliseconds => 1000;

    public override void RunBy(IBackgroundWork work, long dueMilliseconds)
    {
    }

    public override void Cancel(IBackgroundWork work)
    {
    }

    public override void Wait(WaitHandle handle, TimeSpan timeout) => throw new InvalidOperationException("No scenario blocks a thread.");

    public override void Delay(TimeSpan duration)
    {
    }
}

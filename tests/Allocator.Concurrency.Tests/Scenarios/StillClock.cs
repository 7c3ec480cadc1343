using System;
using System.Threading.Tasks;
using Allocator.Native;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A clock that stands still, and calls nobody.</summary>
internal sealed class StillClock : Clock
{
    public override long NowMilliseconds => 1000;

    public override ClockTimer CreateTimer(Action callback) => throw new NotSupportedException();

    public override void Wait(Task task, TimeSpan timeout) => throw new InvalidOperationException("No scenario blocks a thread.");

    public override void Delay(TimeSpan duration)
    {
    }
}

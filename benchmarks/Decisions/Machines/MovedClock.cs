using System;
using System.Threading;
using Allocator.Native;

namespace Decisions.Machines;

/// <summary>A clock that moves when it is told to, so that a trim falls into the time that is measured and into no other. Its timers never fire.</summary>
internal sealed class MovedClock : Clock
{
    private long _now;

    /// <inheritdoc/>
    public override long NowMilliseconds => _now;

    /// <summary>Moves on.</summary>
    public void Advance(TimeSpan duration)
    {
        _now += (long)duration.TotalMilliseconds;
        RefreshCoarse();
    }

    /// <inheritdoc/>
    public override ClockTimer CreateTimer(Action callback) => new SilentTimer();

    /// <inheritdoc/>
    public override void Wait(WaitHandle handle, TimeSpan timeout) => throw new NotSupportedException("Nothing here has a memory budget.");

    /// <inheritdoc/>
    public override void Delay(TimeSpan duration) => Advance(duration);
}

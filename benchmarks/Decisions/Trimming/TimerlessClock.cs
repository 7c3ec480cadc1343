using System;
using System.Threading;
using Allocator.Native;
using Decisions.Machines;

namespace Decisions.Trimming;

/// <summary>The machine's time, without any timer.</summary>
internal sealed class TimerlessClock : Clock
{
    /// <inheritdoc/>
    public override long NowMilliseconds => Environment.TickCount64;

    /// <inheritdoc/>
    public override ClockTimer CreateTimer(Action callback) => new SilentTimer();

    /// <inheritdoc/>
    public override void Wait(WaitHandle handle, TimeSpan timeout) => handle.WaitOne(timeout);

    /// <inheritdoc/>
    public override void Delay(TimeSpan duration) => Thread.Sleep(duration);
}

using System;
using Allocator.Native;

namespace Decisions.Machines;

/// <summary>A timer that never fires: whoever uses it acts for other reasons.</summary>
internal sealed class SilentTimer : ClockTimer
{
    /// <inheritdoc/>
    public override void Start(TimeSpan due)
    {
    }

    /// <inheritdoc/>
    public override void Stop()
    {
    }

    public override void Dispose()
    {
    }
}

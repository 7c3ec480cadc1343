using System;

namespace Allocator.Native;

/// <summary>A timer that fires once for every <see cref="Start"/>.</summary>
internal abstract class ClockTimer : IDisposable
{
    /// <summary>Fires once after <paramref name="due"/>; replaces what was set before.</summary>
    public abstract void Start(TimeSpan due);

    /// <summary>Takes back the last <see cref="Start"/>.</summary>
    public abstract void Stop();

    public abstract void Dispose();
}

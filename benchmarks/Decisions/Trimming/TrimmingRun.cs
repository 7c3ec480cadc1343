using System;

namespace Decisions.Trimming;

/// <summary>What one child process does. It is passed as one argument.</summary>
internal sealed record TrimmingRun
{
    /// <summary>Gets what trims the pool.</summary>
    public TrimTrigger Trigger { get; init; }

    /// <summary>Gets what the process does after its bursts.</summary>
    public Aftermath Aftermath { get; init; }

    /// <summary>Gets the blocks of a burst.</summary>
    public int Blocks { get; init; }

    /// <summary>Gets how long bursts follow each other.</summary>
    public TimeSpan Work { get; init; }

    /// <summary>Gets how long the process is watched afterwards.</summary>
    public TimeSpan Watch { get; init; }

    /// <summary>Gets the trim period.</summary>
    public TimeSpan Period { get; init; }
}

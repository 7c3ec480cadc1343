using System;

namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>A step of a schedule, and what happened before it.</summary>
internal sealed class ExecutedStep
{
    public ExecutedStep(int worker, int index, in Step step)
    {
        Worker = worker;
        Index = index;
        Step = step;
    }

    public int Worker { get; }

    public int Index { get; }

    public Step Step { get; set; }

    /// <summary>Gets or sets how much of each thread happened before it, itself included. Empty while it is going on.</summary>
    public int[] Clock { get; set; } = [];

    /// <summary>Gives whether it happened before whatever has that clock.</summary>
    public bool HappenedBefore(int[] clock) => clock[Worker] > Index;

    public void MergeInto(int[] clock)
    {
        for (int i = 0; i < clock.Length; i++)
        {
            clock[i] = Math.Max(clock[i], Clock[i]);
        }
    }
}

using System;

namespace Interleaving.Scheduling;

/// <summary>A step of a schedule, and what happened before it: how much of each thread.</summary>
internal sealed record ExecutedStep(int Worker, int Index, Step Step, int[] Clock)
{
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

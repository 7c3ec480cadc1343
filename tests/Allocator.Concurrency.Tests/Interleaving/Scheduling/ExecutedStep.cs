namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>A step of a schedule, and what happened before it.</summary>
internal sealed class ExecutedStep
{
    public ExecutedStep(int lane, int index, in Step step)
    {
        Lane = lane;
        Index = index;
        Step = step;
    }

    public int Lane { get; }

    public int Index { get; }

    public Step Step { get; set; }

    /// <summary>Gets or sets how much of each lane happened before it, itself included. Empty while it is going on.</summary>
    public int[] Clock { get; set; } = [];

    /// <summary>Gives whether it happened before whatever has that clock.</summary>
    public bool HappenedBefore(int[] clock) => clock[Lane] > Index;

    public void MergeInto(int[] clock)
    {
        for (int i = 0; i < clock.Length; i++)
        {
            clock[i] = Math.Max(clock[i], Clock[i]);
        }
    }
}

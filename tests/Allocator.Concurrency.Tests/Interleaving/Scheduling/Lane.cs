namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>What takes steps of a schedule: a thread, or the stores that one has made and that have not reached memory yet.</summary>
internal abstract class Lane
{
    protected Lane(int index) => Index = index;

    /// <summary>Gets its number: those of the threads come first.</summary>
    public int Index { get; }

    /// <summary>Gets or sets what it does when it has its next turn.</summary>
    public Step Pending { get; set; }

    /// <summary>Gets how much of each lane happened before its next step.</summary>
    public int[] Clock { get; protected set; } = [];
}

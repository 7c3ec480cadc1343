using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Search;

/// <summary>A state from which one step or another may be taken. Threads are bits.</summary>
internal sealed class SearchNode
{
    public uint Enabled { get; init; }

    /// <summary>
    /// Gets the threads whose next step was taken elsewhere, with nothing since then that would make a difference to it.
    /// </summary>
    public uint Slept { get; init; }

    /// <summary>Gets or sets what has to be tried from here.</summary>
    public uint Wanted { get; set; }

    /// <summary>Gets or sets what has been tried, and all that follows from it.</summary>
    public uint Tried { get; set; }

    public int Chosen { get; set; }

    /// <summary>Gets or sets the step that was taken; null where none has been since the choice.</summary>
    public StepSite? Site { get; set; }

    public uint Sleep => Slept | Tried;
}

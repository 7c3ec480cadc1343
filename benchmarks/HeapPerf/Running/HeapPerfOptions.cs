using System.Collections.Generic;
using HeapPerf.Batches;
using HeapPerf.Heaps;

namespace HeapPerf.Running;

/// <summary>What the user asked for.</summary>
internal sealed record HeapPerfOptions
{
    /// <summary>Gets the heaps, in the order of the tables.</summary>
    public required IReadOnlyList<HeapKind> Heaps { get; init; }

    /// <summary>Gets the numbers of threads, ascending.</summary>
    public required IReadOnlyList<int> Threads { get; init; }

    /// <summary>Gets what is allocated.</summary>
    public required IReadOnlyList<SizeClass> Classes { get; init; }

    /// <summary>Gets how many runs each mean is over.</summary>
    public required int Runs { get; init; }

    /// <summary>Gets the least time of a run, in milliseconds.</summary>
    public required double ShortestRunMilliseconds { get; init; }

    /// <summary>Gets the processor time that each thread has in a run at least, in milliseconds.</summary>
    public required double ThreadMilliseconds { get; init; }

    /// <summary>Gets how long a child waits for the compiler at most, in milliseconds.</summary>
    public required double WarmUpMilliseconds { get; init; }
}

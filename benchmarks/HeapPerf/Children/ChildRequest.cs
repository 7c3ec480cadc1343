using HeapPerf.Batches;
using HeapPerf.Heaps;

namespace HeapPerf.Children;

/// <summary>What a child is to measure.</summary>
internal sealed record ChildRequest
{
    /// <summary>Gets the heap.</summary>
    public required HeapKind Heap { get; init; }

    /// <summary>Gets what is allocated.</summary>
    public required SizeClass Class { get; init; }

    /// <summary>Gets how many threads do it at once.</summary>
    public required int Threads { get; init; }

    /// <summary>Gets how many runs the mean is over.</summary>
    public required int Runs { get; init; }

    /// <summary>Gets how long a run lasts, in milliseconds.</summary>
    public required double RunMilliseconds { get; init; }

    /// <summary>Gets how long one thread runs before at most, so that the compiler is done, in milliseconds.</summary>
    public required double WarmUpMilliseconds { get; init; }
}

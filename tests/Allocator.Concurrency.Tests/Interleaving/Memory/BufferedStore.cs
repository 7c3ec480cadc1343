using Allocator.Concurrency.Interleaving.Scheduling;
using Trace = Allocator.Concurrency.Interleaving.Scheduling.Trace;

namespace Allocator.Concurrency.Interleaving.Memory;

/// <summary>A store that its thread has made, and that no other thread sees yet.</summary>
internal abstract class BufferedStore
{
    /// <summary>Gets the step that it becomes when it reaches memory.</summary>
    public required Step Step { get; init; }

    /// <summary>Gets the step of its thread within which it was made.</summary>
    public required ExecutedStep MadeIn { get; init; }

    /// <summary>Gets what a thread that reads it learns of; null where it is not ordered behind anything.</summary>
    public required int[]? Published { get; init; }

    /// <summary>Gets its number among the stores of its thread.</summary>
    public required int Number { get; init; }

    /// <summary>Writes it. False where a collection has moved objects since the schedule began, and the address means nothing.</summary>
    public abstract bool TryCommit(int collections, Trace? trace);
}

/// <summary>As above, of a type.</summary>
internal sealed class BufferedStore<T> : BufferedStore
{
    public required T Value { get; init; }

    public override unsafe bool TryCommit(int collections, Trace? trace)
    {
        // First the reference, which a collection keeps up to date, and then the look at whether there was one before.
        ref T location = ref Unsafe.AsRef<T>((void*)Step.Address);
        if (System.GC.CollectionCount(0) != collections)
        {
            return false;
        }

        trace?.Note(location, Value);
        location = Value;
        return true;
    }
}

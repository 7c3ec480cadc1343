using Allocator.Concurrency.Interleaving.Scheduling;
using Trace = Allocator.Concurrency.Interleaving.Scheduling.Trace;

namespace Allocator.Concurrency.Interleaving.Memory;

/// <summary>
/// The stores of a schedule's threads between their making and memory. What ARM64 and the .NET memory model allow for stores and loads
/// that are ordered: a release store may be passed by what its thread does later, and by nothing else; a full fence waits for it. A store
/// that is not ordered may besides pass earlier stores, to other words.
/// </summary>
internal sealed class StoreBuffers
{
    private readonly int _workers;
    private readonly StoreBuffer[] _lanes;
    private readonly int _collections = System.GC.CollectionCount(0);

    // What has reached memory, with what came to be thereby.
    private readonly List<(int Worker, BufferedStore Store, ExecutedStep Step)> _committed = [];
    private int _lastNumber;

    public StoreBuffers(int workers)
    {
        _workers = workers;
        _lanes = new StoreBuffer[2 * workers];
        for (int i = 0; i < _lanes.Length; i++)
        {
            _lanes[i] = new StoreBuffer(workers + i, 3 * workers, i % workers);
        }
    }

    /// <summary>Gets two for each thread: the release stores of all, then those that are not ordered.</summary>
    public IReadOnlyList<StoreBuffer> Lanes => _lanes;

    public bool IsEmpty => Array.TrueForAll(_lanes, static lane => lane.Oldest is null);

    private StoreBuffer Ordered(int worker) => _lanes[worker];

    private StoreBuffer Unordered(int worker) => _lanes[_workers + worker];

    public void Add<T>(int worker, in Step step, ExecutedStep madeIn, int[]? published, T value) =>
        (published is null ? Unordered(worker) : Ordered(worker)).Add(
            new BufferedStore<T> { Step = step, MadeIn = madeIn, Published = published, Number = ++_lastNumber, Value = value });

    /// <summary>Returns what a thread reads of its own stores.</summary>
    public bool TryRead<T>(int worker, nint address, out T value)
    {
        BufferedStore? ordered = Ordered(worker).Find(address);
        BufferedStore? unordered = Unordered(worker).Find(address);
        BufferedStore? newest = ordered is null || unordered?.Number > ordered.Number ? unordered : ordered;
        value = newest is BufferedStore<T> store ? store.Value : default!;
        return newest is not null;
    }

    public bool Holds(int worker, nint address) =>
        Ordered(worker).Find(address) is not null || Unordered(worker).Find(address) is not null;

    /// <summary>Returns whether a thread's step has no store of the same thread to wait for.</summary>
    public bool Allow(int worker, in Step step) => step.Kind switch
    {
        StepKind.Update or StepKind.Fence or StepKind.Release =>
            Ordered(worker).Oldest is null && Unordered(worker).Oldest is null,
        StepKind.ProcessFence => IsEmpty,
        StepKind.Observe or StepKind.Settle => !Holds(worker, step.Address),
        _ => true,
    };

    /// <summary>Returns whether the oldest store of a lane may reach memory.</summary>
    public bool IsEnabled(StoreBuffer lane)
    {
        BufferedStore? oldest = lane.Oldest;
        return oldest is not null && (oldest.Published is null || !(Unordered(lane.Worker).Oldest?.Number < oldest.Number));
    }

    /// <summary>Adds what a thread's next step has waited for to what happened before it.</summary>
    public void MergeAwaited(int worker, in Step step, int[] clock)
    {
        bool ofAll = step.Kind == StepKind.ProcessFence;
        bool all = ofAll || step.Kind is StepKind.Update or StepKind.Fence or StepKind.Release;
        nint address = step.Kind is StepKind.Observe or StepKind.Settle ? step.Address : 0;
        foreach ((int _, BufferedStore store, ExecutedStep executed) in _committed.Where(done => ofAll || done.Worker == worker))
        {
            if (all || store.Step.Address == address)
            {
                executed.MergeInto(clock);
            }
        }
    }

    /// <summary>As above, for the next store of a lane.</summary>
    public void MergeAwaited(StoreBuffer lane)
    {
        BufferedStore next = lane.Oldest!;
        next.MadeIn.MergeInto(lane.Clock);
        foreach ((int _, BufferedStore store, ExecutedStep executed) in _committed.Where(done => done.Worker == lane.Worker))
        {
            if (store.Number < next.Number && (next.Published is not null || store.Step.Address == next.Step.Address))
            {
                executed.MergeInto(lane.Clock);
            }
        }
    }

    /// <summary>Writes the oldest store of a lane; null where the addresses mean nothing any more.</summary>
    public BufferedStore? Commit(StoreBuffer lane, ExecutedStep step, Trace? trace)
    {
        BufferedStore store = lane.TakeOldest();
        _committed.Add((lane.Worker, store, step));
        return store.TryCommit(_collections, trace) ? store : null;
    }
}

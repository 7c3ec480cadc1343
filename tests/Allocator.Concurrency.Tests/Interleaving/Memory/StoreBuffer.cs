using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Memory;

/// <summary>Stores of one thread that reach memory in order, at any time after they were made: each is a step of its own.</summary>
internal sealed class StoreBuffer : Lane
{
    private readonly Queue<BufferedStore> _stores = new();

    public StoreBuffer(int index, int lanes, int worker)
        : base(index)
    {
        Clock = new int[lanes];
        Worker = worker;
    }

    /// <summary>Gets the thread whose stores they are.</summary>
    public int Worker { get; }

    public BufferedStore? Oldest => _stores.TryPeek(out BufferedStore? store) ? store : null;

    public void Add(BufferedStore store)
    {
        _stores.Enqueue(store);
        Pending = Oldest!.Step;
    }

    public BufferedStore TakeOldest()
    {
        BufferedStore store = _stores.Dequeue();
        Pending = Oldest?.Step ?? default;
        return store;
    }

    /// <summary>Returns the newest store to an address; null where there is none.</summary>
    public BufferedStore? Find(nint address)
    {
        BufferedStore? found = null;
        foreach (BufferedStore store in _stores)
        {
            found = store.Step.Address == address ? store : found;
        }

        return found;
    }
}

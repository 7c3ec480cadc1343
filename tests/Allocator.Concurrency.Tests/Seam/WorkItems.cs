namespace Allocator.Concurrency.Seam;

/// <summary>What the threads of a schedule leave to other threads: done when the scenario says so, or not at all.</summary>
internal static class WorkItems
{
    private static readonly Queue<Action> s_left = new();

    // A step, which orders what is queued before what is done, as the library's lock does.
    private static int s_steps;

    /// <summary>Gets or sets whether there is memory for another item.</summary>
    public static bool HasMemory { get; set; } = true;

    public static bool UnsafeQueueUserWorkItem(System.Threading.WaitCallback work, object? state)
    {
        if (!HasMemory)
        {
            throw new OutOfMemoryException();
        }

        if (Explorer.IsExploring)
        {
            Add(() => work(state));
            return true;
        }

        return System.Threading.ThreadPool.UnsafeQueueUserWorkItem(work, state);
    }

    public static void Add(Action work)
    {
        Interlocked.Increment(ref s_steps);
        s_left.Enqueue(work);
    }

    /// <summary>Does what is left, in order.</summary>
    public static void DoAll()
    {
        while (TryTake() is Action work)
        {
            work();
        }

        static Action? TryTake()
        {
            Interlocked.Increment(ref s_steps);
            return s_left.TryDequeue(out Action? work) ? work : null;
        }
    }

    /// <summary>Forgets what an abandoned schedule has left.</summary>
    public static void Clear() => s_left.Clear();
}

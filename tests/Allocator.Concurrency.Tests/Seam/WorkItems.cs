namespace Allocator.Concurrency.Seam;

/// <summary>What the threads of a schedule leave to the thread pool: done when the scenario says so, or not at all.</summary>
internal static class WorkItems
{
    private static readonly Queue<Action> s_left = new();

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
            s_left.Enqueue(() => work(state));
            return true;
        }

        return System.Threading.ThreadPool.UnsafeQueueUserWorkItem(work, state);
    }

    /// <summary>Does what is left, in order.</summary>
    public static void DoAll()
    {
        while (s_left.TryDequeue(out Action? work))
        {
            work();
        }
    }

    /// <summary>Forgets what an abandoned schedule has left.</summary>
    public static void Clear() => s_left.Clear();
}

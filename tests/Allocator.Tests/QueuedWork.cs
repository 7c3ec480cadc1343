namespace Allocator.Tests;

/// <summary>What finalizers leave to the thread pool.</summary>
internal static class QueuedWork
{
    /// <summary>Waits for what is queued by now. A thread of the pool may still be at its last item.</summary>
    public static void Wait()
    {
        int items = ThreadPool.ThreadCount + 1;
        using CountdownEvent done = new(items);
        for (int i = 0; i < items; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static done => done.Signal(), done, preferLocal: false);
        }

        done.Wait();
    }
}

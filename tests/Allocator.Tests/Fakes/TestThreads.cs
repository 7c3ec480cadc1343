using System.Collections.Concurrent;

namespace Allocator.Tests.Fakes;

/// <summary>Threads of a test's own, all at once.</summary>
internal static class TestThreads
{
    /// <summary>Waits until all have ended, and fails with what was thrown on any of them.</summary>
    /// <param name="count">How many.</param>
    /// <param name="action">What each runs; it gets the thread's number, from 0.</param>
    public static void Run(int count, Action<int> action)
    {
        ConcurrentQueue<Exception> failures = new();
        Thread[] threads = [.. Enumerable.Range(0, count).Select(i => new Thread(() =>
        {
            try
            {
                action(i);
            }
            catch (Exception e)
            {
                failures.Enqueue(e);
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());
        Assert.Empty(failures);
    }
}

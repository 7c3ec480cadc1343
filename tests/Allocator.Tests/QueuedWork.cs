namespace Allocator.Tests;

/// <summary>What the library has left to its threads.</summary>
internal static class QueuedWork
{
    /// <summary>Waits for what is queued by now. A thread of the pool may still be at its last item.</summary>
    public static void Wait()
    {
        WaitForThreads();
        int items = ThreadPool.ThreadCount + 1;
        using CountdownEvent done = new(items);
        for (int i = 0; i < items; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static done => done.Signal(), done, preferLocal: false);
        }

        done.Wait();
    }

    /// <summary>Waits for the threads of the library, and no others.</summary>
    public static void WaitForThreads()
    {
        WaitFor(BackgroundThread.Shared);
        WaitFor(UserCallbacks.Thread);
    }

    /// <summary>Has a collection find what is unreachable, and what finalizers leave of it done.</summary>
    public static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        WaitForThreads();
    }

    /// <summary>Starts threads of the pool: where none can be started, the pool's try to start one ends the process.</summary>
    public static void StartPoolThreads()
    {
        ThreadPool.SetMinThreads(8, 8);
        using Barrier together = new(5);
        for (int i = 1; i < together.ParticipantCount; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static together => ((Barrier)together!).SignalAndWait(), together);
        }

        together.SignalAndWait();
    }

    /// <summary>Blocks all threads of the pool, which gets no more of them, until the event is set.</summary>
    public static void BlockThreadPool(ManualResetEventSlim end)
    {
        Assert.True(ThreadPool.SetMaxThreads(Environment.ProcessorCount, Environment.ProcessorCount));
        using CountdownEvent blocked = new(Environment.ProcessorCount);
        for (int i = 0; i < Environment.ProcessorCount; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    blocked.Signal();
                    end.Wait();
                },
                null);
        }

        blocked.Wait();
    }

    private static void WaitFor(BackgroundThread thread)
    {
        using Marker marker = new();
        thread.Queue(marker);
        if (thread.IsRunning || thread.IsCurrent)
        {
            Assert.True(marker.IsDone.Wait(TimeSpan.FromSeconds(30)), "The thread is blocked.");
        }
    }

    private sealed class Marker : IBackgroundWork, IDisposable
    {
        private BackgroundState _work;

        public ManualResetEventSlim IsDone { get; } = new();

        public ref BackgroundState State => ref _work;

        public void DoWork() => IsDone.Set();

        public void Dispose() => IsDone.Dispose();
    }
}

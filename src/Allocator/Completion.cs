namespace Allocator;

/// <summary>
/// A task that the library completes and user code awaits. That code never runs on a thread of the library's own, which others wait for:
/// a work item of the thread pool completes the task. If it has not begun after 100 ms, because all threads of the pool are blocked, a new
/// thread does it. Everything that completes the task is allocated with it.
/// </summary>
[DebuggerDisplay("{Task.Status}")]
internal class Completion : IBackgroundWork
{
    private const int PatienceMilliseconds = 100;
    private const int RetryMilliseconds = 1000;

    // An async method that throws needs less than this to keep its exception. Without it, its task never completes.
    private const int ProbeBytes = 4096;

    // Its continuations run inline: if the pool is blocked, it would not run them either.
    private readonly TaskCompletionSource<bool> _source = new();
    private readonly WaitCallback _run;
    private BackgroundState _work;
    private bool _isQueued;
    private int _isDone;

    public Completion() => _run = Run;

    public Task Task => _source.Task;

    public ref BackgroundState State => ref _work;

    /// <summary>Completes the task, on another thread. Never throws; needs no managed memory.</summary>
    public void Complete() => BackgroundThread.Shared.Queue(this);

    public virtual void DoWork()
    {
        if (!Volatile.Read(ref _isQueued))
        {
            BackgroundThread.Shared.RunBy(this, Environment.TickCount64 + PatienceMilliseconds);
            ThreadPool.UnsafeQueueUserWorkItem(_run, null);
            Volatile.Write(ref _isQueued, true);
        }
        else if (Volatile.Read(ref _isDone) == 0)
        {
            BackgroundThread.StartThread(() => Run(null), "Allocator completion");
        }
    }

    private void Run(object? state)
    {
        try
        {
            GC.KeepAlive(new byte[ProbeBytes]);
            if (Interlocked.Exchange(ref _isDone, 1) == 0)
            {
                BackgroundThread.Shared.Cancel(this);
                _source.TrySetResult(true);
            }
        }
        catch (Exception)
        {
            // It would end the process.
            BackgroundThread.Shared.Cancel(this);
            Volatile.Write(ref _isQueued, false);
            if (Volatile.Read(ref _isDone) == 0)
            {
                BackgroundThread.Shared.RunBy(this, Environment.TickCount64 + RetryMilliseconds);
            }
        }
    }
}

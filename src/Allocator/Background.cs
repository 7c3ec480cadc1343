namespace Allocator;

/// <summary>
/// Runs what has no caller: the work of timers, finalizers and thread-pool items. No exception leaves it, because one ends the process.
/// Work that failed, or that the thread pool had no memory for, is kept and tried again. Thread-safe; no method throws, blocks or needs
/// managed memory to keep work.
/// </summary>
internal static class Background
{
    private const int RetryMilliseconds = 100;

    private static readonly WaitCallback s_run = static work => RunIfPending((IBackgroundWork)work!);
    private static readonly Timer s_retry = CreateTimer(RetryAll);
    private static IBackgroundWork? s_newest;

    /// <summary>Gets or sets what queues a call on the thread pool. Replaced in tests.</summary>
    public static Func<WaitCallback, object?, bool> ThreadPoolQueue { get; set; } = ThreadPool.UnsafeQueueUserWorkItem;

    /// <summary>Gets whether work is kept: ticks go on then, for setting the timer may have failed.</summary>
    public static bool HasKept => Volatile.Read(ref s_newest) is not null;

    /// <summary>Runs the type initializer where an exception still has a caller: one that fails in a finalizer fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(s_retry);

    /// <summary>Runs work on the thread pool. What was queued before and has not begun is done by the same run.</summary>
    public static void Queue(IBackgroundWork work)
    {
        Interlocked.Exchange(ref work.State.IsPending, 1);
        Enqueue(work);
    }

    /// <summary>Runs work on this thread.</summary>
    public static void Run(IBackgroundWork work)
    {
        try
        {
            work.DoWork();
        }
        catch (Exception)
        {
            Interlocked.Exchange(ref work.State.IsPending, 1);
            Keep(work);
        }
    }

    /// <summary>Makes a timer, not yet running.</summary>
    public static Timer CreateTimer(Action callback)
    {
        Timer? timer = null;
        WithoutFlow(() => timer = new Timer(static state => ((Action)state!)(), callback, Timeout.Infinite, Timeout.Infinite));
        return timer!;
    }

    /// <summary>Starts a thread that does not keep the process alive. An exception from <paramref name="run"/> ends the process.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory for one.</exception>
    public static void StartThread(Action run, string name)
    {
        Thread thread = new(new ThreadStart(run)) { IsBackground = true, Name = name };
        WithoutFlow(thread.Start);
    }

    /// <summary>Tries again what was kept: when the timer fires, and at ticks, should setting the timer have failed.</summary>
    public static void RetryAll()
    {
        // Each on a thread of its own, as before: users' callbacks may take as long as they like.
        IBackgroundWork? work = Interlocked.Exchange(ref s_newest, null);
        while (work is not null)
        {
            IBackgroundWork? next = work.State.Next == work ? null : work.State.Next;
            Volatile.Write(ref work.State.Next, null);
            Enqueue(work);
            work = next;
        }
    }

    // The flow of execution context would tie what the caller has in its AsyncLocals to the timer or thread, for good.
    private static void WithoutFlow(Action start)
    {
        using AsyncFlowControl? flow = ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
        start();
    }

    private static void Enqueue(IBackgroundWork work)
    {
        try
        {
            ThreadPoolQueue(s_run, work);
        }
        catch (Exception exception)
        {
            Keep(work);
            PutOff(exception);
        }
    }

    // The thread pool may have queued the work before it failed, to make a thread for it: then it comes here twice.
    private static void RunIfPending(IBackgroundWork work)
    {
        if (Interlocked.Exchange(ref work.State.IsPending, 0) != 0)
        {
            Run(work);
        }
    }

    private static void Keep(IBackgroundWork work)
    {
        // Work of several callers, a queue to be served for instance, is in the list once.
        if (Interlocked.CompareExchange(ref work.State.Next, work, null) is null)
        {
            Push(work);
        }

        try
        {
            s_retry.Change(RetryMilliseconds, Timeout.Infinite);
        }
        catch (ThreadInterruptedException exception)
        {
            // From a lock of the runtime's timers, and this ends the interrupt.
            Keep(work);
            PutOff(exception);
        }
        catch (Exception)
        {
            // The next work that fails sets it.
        }
    }

    // The caller's thread was interrupted in a lock of the thread pool. That is meant for what it does next.
    private static void PutOff(Exception exception)
    {
        if (exception is ThreadInterruptedException)
        {
            Thread.CurrentThread.Interrupt();
        }
    }

    private static void Push(IBackgroundWork work)
    {
        IBackgroundWork? newest;
        do
        {
            newest = Volatile.Read(ref s_newest);
            work.State.Next = newest ?? work;
        }
        while (Interlocked.CompareExchange(ref s_newest, work, newest) != newest);
    }
}

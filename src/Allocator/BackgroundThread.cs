using Allocator.Native;

namespace Allocator;

/// <summary>
/// Runs work without a caller, one piece after the other: ticks, timeouts of waits, readings of the container, work that finalizers leave.
/// No exception escapes, because that would end the process; failed work is tried again. Thread-safe; only <see cref="Start"/> throws,
/// blocks or needs managed memory.
/// </summary>
/// <remarks>
/// The thread is made before the first memory is outstanding, and kept while any allocator lives: later there may be no memory for one. It
/// sleeps in an event of the system's, which needs neither managed memory nor a handle of a file.
/// </remarks>
[DebuggerDisplay("{_name,nq}: {_stage}")]
internal sealed class BackgroundThread(string name)
{
    private const int RetryMilliseconds = 1000;
    private const int ProbeBytes = 32 * 1024;

    // The thread ends when no allocator has lived for this long. Not sooner, because a program may make one for each job.
    private const int LingerMilliseconds = 1000;

    /// <summary>Whether no allocator lives, nor memory of one.</summary>
    public static volatile bool IsUnused;

    // One lock for all instances, so that work is never in the lists of two. Nothing else is locked under it.
    private static readonly ShortLock s_lock = new();

    private readonly string _name = name;
    private readonly object _starting = new();
    private readonly AutoResetEvent _wake = new(initialState: false);
    private readonly BackgroundList _ready = new();
    private readonly BackgroundList _timed = new();
    private volatile Stage _stage;
    private int _threadId;
    private long _nextStart;

    private enum Stage
    {
        /// <summary>No memory has been outstanding yet.</summary>
        NotWanted,

        /// <summary>No thread could be made yet.</summary>
        Wanted,
        Running,

        /// <summary>The library is being unloaded.</summary>
        Closed,
    }

    /// <summary>Gets the thread that never runs user code except event listeners.</summary>
    public static BackgroundThread Shared { get; } = new("Allocator");

    /// <summary>
    /// Gets the thread for work that may take seconds, such as a trim of malloc. Made before the first request waits: a thread that begins
    /// without managed memory ends the process.
    /// </summary>
    public static BackgroundThread Long { get; } = new("Allocator, long work");

    /// <summary>Gets whether this is a thread of the library that must not run code of the user, which may block for ever.</summary>
    public static bool ForbidsUserCode => Shared.IsCurrent || Long.IsCurrent;

    /// <summary>Gets whether this is the thread that ends waits and ticks, and <see cref="Long"/> is there for what takes seconds.</summary>
    public static bool LeavesToLong => Shared.IsCurrent && Long.IsRunning;

    /// <summary>Gets or sets the delegate that starts a thread. Replaced in tests.</summary>
    public static Action<Thread> Starter { get; set; } = static thread => thread.Start();

    public bool IsRunning => _stage == Stage.Running;

    public bool IsCurrent => Volatile.Read(ref _threadId) == Environment.CurrentManagedThreadId;

    /// <summary>Starts a thread without the caller's flow, whose AsyncLocals it would otherwise keep for ever.</summary>
    /// <exception cref="OutOfMemoryException">None can be made.</exception>
    public static void StartThread(ThreadStart start, string name)
    {
        try
        {
            // A thread that finds no managed memory, or can open no file, while it begins ends the process.
            GC.KeepAlive(new byte[ProbeBytes]);
            SystemFile.TryOpen("/dev/null")?.Dispose();
        }
        catch (IOException exception)
        {
            throw new OutOfMemoryException("No thread can be started, because no file can be opened.", exception);
        }

        Thread thread = new(start) { IsBackground = true, Name = name };
        using AsyncFlowControl? flow = ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
        try
        {
            Starter(thread);
        }
        catch (SystemException exception) when (exception is not (OutOfMemoryException or ThreadInterruptedException))
        {
            // Mono has other exceptions for this.
            throw new OutOfMemoryException("No thread can be started.", exception);
        }
    }

    /// <summary>Makes sure that there is a thread, for callers that need one.</summary>
    /// <exception cref="OutOfMemoryException">None can be made.</exception>
    public void Start()
    {
        if (_stage >= Stage.Running)
        {
            return;
        }

        lock (_starting)
        {
            if (_stage < Stage.Running)
            {
                _stage = Stage.Wanted;
                StartThread(RunUntilUnused, _name);
                _stage = Stage.Running;
            }
        }
    }

    /// <summary>
    /// Makes sure that there is a thread. If there is none, it tries to start one at most once a second, and does the due work on the
    /// calling thread.
    /// </summary>
    public void Ensure()
    {
        if (_stage < Stage.Running && Environment.TickCount64 >= Volatile.Read(ref _nextStart))
        {
            EnsureSlow();
        }
    }

    /// <summary>Queues work to be done as soon as possible, after all work that was queued before.</summary>
    public void Queue(IBackgroundWork work)
    {
        if (_stage is Stage.NotWanted or Stage.Closed)
        {
            // No allocator has memory, so there is next to nothing to do.
            Run(work);
        }
        else
        {
            RunBy(work, dueMilliseconds: 0);
        }
    }

    /// <summary>Schedules work for a time, unless it is due sooner anyway.</summary>
    public void RunBy(IBackgroundWork work, long dueMilliseconds)
    {
        using (s_lock.Enter())
        {
            if ((work.State.Next is not null && work.State.Due <= dueMilliseconds) || _stage == Stage.Closed)
            {
                return;
            }

            BackgroundList.Remove(work);
            (dueMilliseconds <= 0 ? _ready : _timed).Add(work, Math.Max(0, dueMilliseconds));
        }

        _wake.Set();
    }

    /// <summary>Cancels work, unless it has begun.</summary>
    public void Cancel(IBackgroundWork work)
    {
        using ShortLock.Section section = s_lock.Enter();
        BackgroundList.Remove(work);
    }

    /// <summary>Does work on the calling thread. If it throws, the background thread tries it again.</summary>
    public void Run(IBackgroundWork work)
    {
        ShortLock.AssertNoneHeld();
        try
        {
            work.DoWork();
        }
        catch (Exception)
        {
            RunBy(work, Environment.TickCount64 + RetryMilliseconds);
        }
    }

    /// <summary>
    /// Does work that may take seconds: on the calling thread or, if that is the one that ends waits and ticks, on <see cref="Long"/>.
    /// </summary>
    public static void RunLong(IBackgroundWork work)
    {
        if (LeavesToLong)
        {
            Long.Queue(work);
        }
        else
        {
            work.DoWork();
        }
    }

    /// <summary>Makes the thread check soon whether it is still needed.</summary>
    public void NoteUnused()
    {
        bool isAsleep;
        using (s_lock.Enter())
        {
            isAsleep = IsRunning && _timed.First is null;
        }

        if (isAsleep)
        {
            _wake.Set();
        }
    }

    /// <summary>Ends it for good: it would keep the library loaded. From here on, the caller does the work that it queues.</summary>
    public void Close()
    {
        lock (_starting)
        {
            _stage = Stage.Closed;
        }

        _wake.Set();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EnsureSlow()
    {
        // Another caller starts it, or does what is due, which may be a callback that blocks.
        if (!Monitor.TryEnter(_starting))
        {
            return;
        }

        try
        {
            Start();
        }
        catch (OutOfMemoryException)
        {
            // No thread begins meanwhile.
            Volatile.Write(ref _nextStart, Environment.TickCount64 + RetryMilliseconds);
            RunDue();
        }
        finally
        {
            Monitor.Exit(_starting);
        }
    }

    private void RunUntilUnused()
    {
        Volatile.Write(ref _threadId, Environment.CurrentManagedThreadId);
        do
        {
            RunDue();
        }
        while (!(Sleep() ? _stage == Stage.Closed : TryEnd()));

        // From here on another thread may have this thread's id; and the next background thread may exist already.
        RunDue();
        Interlocked.CompareExchange(ref _threadId, 0, Environment.CurrentManagedThreadId);
    }

    private void RunDue()
    {
        while (TakeDue() is IBackgroundWork work)
        {
            Run(work);
        }
    }

    // Work with a time comes first, so that a flood of other work cannot delay it.
    private IBackgroundWork? TakeDue()
    {
        using ShortLock.Section section = s_lock.Enter();
        IBackgroundWork? work = _timed.First is { } timed && timed.State.Due <= Environment.TickCount64 ? timed : _ready.First;
        if (work is not null)
        {
            BackgroundList.Remove(work);
        }

        return work;
    }

    // Returns false if there has been no work for a while, and no allocator lives.
    private bool Sleep()
    {
        try
        {
            // A wait takes 24 days at most.
            long left = int.MaxValue;
            using (s_lock.Enter())
            {
                left = Math.Max(0, Math.Min(_timed.First?.State.Due - Environment.TickCount64 ?? left, left));
            }

            bool lingers = IsUnused && left > LingerMilliseconds;
            return _wake.WaitOne(lingers ? LingerMilliseconds : (int)left) || !lingers;
        }
        catch (Exception)
        {
            // User code has found this thread and interrupted it.
            return true;
        }
    }

    private bool TryEnd()
    {
        lock (_starting)
        {
            // Set first. An allocator that is made meanwhile either is seen below, or sees this and waits for the lock.
            Stage before = _stage;
            _stage = before == Stage.Closed ? Stage.Closed : Stage.NotWanted;
            Interlocked.MemoryBarrier();
            bool ends = before == Stage.Closed || IsUnused;
            _stage = ends ? _stage : before;
            return ends;
        }
    }
}

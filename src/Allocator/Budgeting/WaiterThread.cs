using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// A thread of the library's own that ends and completes asynchronous waits with a time, while there are any and a second longer: threads
/// of the pool may all wait for memory themselves. No continuation of the user's runs on it.
/// </summary>
[DebuggerDisplay("{_waiting.Count} with a time, {_settled.Count} to be completed")]
internal sealed class WaiterThread(Clock clock)
{
    private const int LingerMilliseconds = 1000;
    private const int RetryMilliseconds = 100;

    // The runtime inlines continuations where the context is of the base class, which marks this thread; and none where it is another's.
    private static readonly SynchronizationContext s_ours = new();
    private static readonly SynchronizationContext s_noContinuations = new NoContinuations();

    private readonly Clock _clock = clock;
    private readonly object _starting = new();
    private readonly ShortLock _lock = new();
    private readonly ManualResetEvent _wake = new(initialState: false);

    // Under the lock. The requests that have a time, by that, and those to be completed.
    private readonly LinkedList<BudgetRequest> _waiting = new();
    private readonly LinkedList<BudgetRequest> _settled = new();
    private int _users;
    private bool _isRunning;

    /// <summary>Gets the one of the machine's clock. It has no thread before it is used.</summary>
    public static WaiterThread Shared { get; } = new(SystemClock.Instance);

    public bool IsRunning => Volatile.Read(ref _isRunning);

    /// <summary>Has the continuations of a task that this thread completes run on the thread pool. For the end of its method.</summary>
    public static void KeepContinuationsOff()
    {
        if (SynchronizationContext.Current == s_ours)
        {
            SynchronizationContext.SetSynchronizationContext(s_noContinuations);
        }
    }

    /// <summary>Makes sure that there is a thread, until <see cref="End"/>. Called before the request is posted: it may throw.</summary>
    public void Begin()
    {
        lock (_starting)
        {
            using (_lock.Enter())
            {
                _users++;
                if (_isRunning)
                {
                    return;
                }

                _isRunning = true;
            }

            try
            {
                Background.StartThread(Run, "Allocator waits");
            }
            catch
            {
                using (_lock.Enter())
                {
                    _users--;
                    _isRunning = false;
                }

                throw;
            }
        }
    }

    /// <summary>Has a posted request withdrawn when a time is over that begins now. Nothing where it is settled by now.</summary>
    public void Add(BudgetRequest request, TimeSpan timeout)
    {
        bool isFirst;
        long due = _clock.NowMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds);
        using (_lock.Enter())
        {
            Debug.Assert(_users > 0);
            if (!request.IsWaiting)
            {
                return;
            }

            // Most requests wait equally long, so the place is near the end.
            request.Due = due;
            LinkedListNode<BudgetRequest>? before = _waiting.Last;
            while (before?.Value.Due > due)
            {
                before = before.Previous;
            }

            isFirst = before is null;
            if (isFirst)
            {
                _waiting.AddFirst(request.DueNode!);
            }
            else
            {
                _waiting.AddAfter(before!, request.DueNode!);
            }
        }

        if (isFirst)
        {
            _wake.Set();
        }
    }

    /// <summary>Has the task of a settled request completed on the thread. Needs no memory.</summary>
    public void Complete(BudgetRequest request)
    {
        using (_lock.Enter())
        {
            request.DueNode!.List?.Remove(request.DueNode);
            _settled.AddLast(request.DueNode);
        }

        _wake.Set();
    }

    /// <summary>Ends what <see cref="Begin"/> began: the wait is over.</summary>
    public void End(BudgetRequest request)
    {
        bool isLast;
        using (_lock.Enter())
        {
            request.DueNode!.List?.Remove(request.DueNode);
            isLast = --_users == 0;
        }

        if (isLast)
        {
            _wake.Set();
        }
    }

    private void Run()
    {
        bool isOver = false;
        while (!isOver)
        {
            try
            {
                _wake.Reset();
                isOver = !EndNextWait() && !CompleteNext() && WaitForWork();
            }
            catch (Exception)
            {
                // For want of managed memory. An exception that leaves a thread ends the process; what was not done is still in the lists.
                Thread.Sleep(RetryMilliseconds);
            }
        }
    }

    private bool EndNextWait()
    {
        BudgetRequest? request;
        using (_lock.Enter())
        {
            request = _waiting.First?.Value;
            if (request is null || request.Due > _clock.NowMilliseconds)
            {
                return false;
            }

            _waiting.RemoveFirst();
        }

        // Where it has been granted meanwhile, its waiter is told that.
        request.Account.Budget!.TryWithdraw(request);
        return true;
    }

    private bool CompleteNext()
    {
        if (BudgetRequest.TakeFirst(_settled, _lock) is not BudgetRequest request)
        {
            return false;
        }

        try
        {
            // Our own continuations run here and now. The last of them keeps the user's off.
            SynchronizationContext.SetSynchronizationContext(s_ours);
            request.Complete();
            return true;
        }
        catch (OutOfMemoryException)
        {
            Complete(request);
            throw;
        }
    }

    // Returns whether the thread is to end.
    private bool WaitForWork()
    {
        long? due;
        bool isUsed;
        using (_lock.Enter())
        {
            due = _waiting.First?.Value.Due;
            isUsed = _users > 0;
        }

        if (due is not null)
        {
            _clock.Wait(_wake, TimeSpan.FromMilliseconds(Math.Min(Math.Max(0, due.Value - _clock.NowMilliseconds), int.MaxValue)));
            return false;
        }

        if (_wake.WaitOne(isUsed ? Timeout.Infinite : LingerMilliseconds))
        {
            return false;
        }

        using (_lock.Enter())
        {
            _isRunning = _users > 0;
            return !_isRunning;
        }
    }

    private sealed class NoContinuations : SynchronizationContext;
}

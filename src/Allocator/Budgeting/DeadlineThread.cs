using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// A thread that ends asynchronous waits whose time is over, and completes all waits that have a time, those that are granted too. A
/// timer would call back on the thread pool, which may have no thread left:
/// all of them may be waiting for memory themselves.
/// </summary>
/// <remarks>There is one while anything waits with a time, and a second longer. No continuation of the user's runs on it.</remarks>
internal sealed class DeadlineThread
{
    private const int LingerMilliseconds = 1000;

    private static readonly SynchronizationContext s_noContinuations = new NoContinuations();

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static bool t_isCurrent;
#pragma warning restore IDE1006

    private readonly Clock _clock;
    private readonly object _starting = new();
    private readonly ShortLock _lock = new();
    private readonly ManualResetEvent _wake = new(initialState: false);

    // Under the lock. The requests that wait, by their time, and the first and last of those to be completed.
    private readonly LinkedList<BudgetRequest> _waiting = new();
    private BudgetRequest? _settled;
    private BudgetRequest? _lastSettled;
    private int _users;
    private bool _isRunning;

    public DeadlineThread(Clock clock) => _clock = clock;

    /// <summary>Gets the one of the machine's clock. It has no thread before it is used.</summary>
    public static DeadlineThread Shared { get; } = new(SystemClock.Instance);

    /// <summary>Gets how many requests have a time that is not over. For tests.</summary>
    public int Waiting
    {
        get
        {
            using (_lock.Enter())
            {
                return _waiting.Count;
            }
        }
    }

    /// <summary>Gets whether there is a thread. For tests.</summary>
    public bool IsRunning
    {
        get
        {
            using (_lock.Enter())
            {
                return _isRunning;
            }
        }
    }

    /// <summary>Has the continuations of a task that this thread completes run on the thread pool. For the end of its method.</summary>
    public static void KeepContinuationsOff()
    {
        if (t_isCurrent)
        {
            SynchronizationContext.SetSynchronizationContext(s_noContinuations);
        }
    }

    /// <summary>Returns when a time is over that begins now.</summary>
    public long DueAfter(TimeSpan timeout) => _clock.NowMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds);

    /// <summary>Sees to it that there is a thread, until <see cref="End"/>. Called before the request is posted: it may throw.</summary>
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
                Background.StartThread(Run, "Allocator deadlines");
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

    /// <summary>Has a request withdrawn when its time is over. Called when it has been posted.</summary>
    public void Add(BudgetRequest request, long due)
    {
        bool isFirst;
        using (_lock.Enter())
        {
            // Most requests of a process wait equally long, so the place is near the end.
            request.Due = due;
            LinkedListNode<BudgetRequest>? before = _waiting.Last;
            while (before?.Value.Due > due)
            {
                before = before.Previous;
            }

            isFirst = before is null;
            if (before is null)
            {
                _waiting.AddFirst(request.DeadlineNode!);
            }
            else
            {
                _waiting.AddAfter(before, request.DeadlineNode!);
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
            Debug.Assert(_isRunning);
            if (_lastSettled is null)
            {
                _settled = request;
            }
            else
            {
                _lastSettled.NextSettled = request;
            }

            _lastSettled = request;
        }

        _wake.Set();
    }

    /// <summary>Ends what <see cref="Begin"/> began: the wait is over.</summary>
    public void End(BudgetRequest request)
    {
        bool isLast;
        using (_lock.Enter())
        {
            request.DeadlineNode!.List?.Remove(request.DeadlineNode);
            isLast = --_users == 0;
        }

        if (isLast)
        {
            _wake.Set();
        }
    }

    private void Run()
    {
        t_isCurrent = true;
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
                // An exception that leaves a thread ends the process. What was not done yet is still in the lists.
                _wake.WaitOne(100);
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

        // Where it has been granted meanwhile, that is what its waiter hears of.
        request.Account.Budget!.TryWithdraw(request);
        return true;
    }

    private bool CompleteNext()
    {
        BudgetRequest? request;
        using (_lock.Enter())
        {
            request = _settled;
            if (request is null)
            {
                return false;
            }

            _settled = request.NextSettled;
            _lastSettled = _settled is null ? null : _lastSettled;
            request.NextSettled = null;
        }

        // Our own continuations run here and now. The last of them keeps the user's off.
        SynchronizationContext.SetSynchronizationContext(null);
        request.Complete();
        return true;
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
        }
        else if (_wake.WaitOne(isUsed ? Timeout.Infinite : LingerMilliseconds))
        {
            return false;
        }
        else
        {
            using (_lock.Enter())
            {
                _isRunning = _users > 0;
                return !_isRunning;
            }
        }

        return false;
    }

    // The runtime inlines no continuation of a task where there is a context of any kind but the base class.
    private sealed class NoContinuations : SynchronizationContext
    {
    }
}

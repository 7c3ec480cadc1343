using System;
using System.Collections.Generic;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// Looks at the container again for requests that wait for it without a thread: on one thread of its own, because those of the thread pool may all be waiting themselves. The thread ends when nobody waits. Thread-safe.
/// </summary>
internal sealed class AdmissionPoller : IBackgroundWork
{
    private readonly ShortLock _lock = new();
    private readonly Clock _clock;
    private readonly List<MemoryBudget> _watched = [];
    private BackgroundState _work;
    private bool _isRunning;

    public AdmissionPoller(Clock clock) => _clock = clock;

    /// <summary>Gets the one of the process.</summary>
    public static AdmissionPoller Shared { get; } = new(SystemClock.Instance);

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Looks again until no request waits for that budget any more. Nothing where its requests wait for no container.</summary>
    public void Watch(MemoryBudget budget)
    {
        if (!budget.IsLimitedByContainer)
        {
            return;
        }

        using (_lock.Enter())
        {
            if (!_watched.Contains(budget))
            {
                _watched.Add(budget);
            }
        }

        Background.Run(this);
    }

    // Starts the thread. Where there is no memory for one that is tried again later.
    void IBackgroundWork.DoWork()
    {
        using (_lock.Enter())
        {
            if (_isRunning || _watched.Count == 0)
            {
                return;
            }

            _isRunning = true;
        }

        try
        {
            Background.StartThread(Poll, "Allocator admission");
        }
        catch
        {
            using (_lock.Enter())
            {
                _isRunning = false;
            }

            throw;
        }
    }

    private void Poll()
    {
        for (int i = 0; TryGetNext(ref i, out MemoryBudget? budget);)
        {
            try
            {
                if (budget is null)
                {
                    _clock.Delay(TimeSpan.FromMilliseconds(MemoryBudget.LookAgainMilliseconds));
                }
                else
                {
                    budget.LookAgain(_clock.NowMilliseconds);
                }
            }
            catch (Exception)
            {
                // For want of managed memory. An exception that leaves a thread ends the process; and who waits is looked after the next time.
            }
        }
    }

    // One budget after the other, and null after the last. False where none is left.
    private bool TryGetNext(ref int index, out MemoryBudget? budget)
    {
        budget = null;
        using (_lock.Enter())
        {
            while (index < _watched.Count && !_watched[index].HasWaiters)
            {
                _watched.RemoveAt(index);
            }

            if (index < _watched.Count)
            {
                budget = _watched[index++];
                return true;
            }

            index = 0;
            return _isRunning = _watched.Count > 0;
        }
    }
}

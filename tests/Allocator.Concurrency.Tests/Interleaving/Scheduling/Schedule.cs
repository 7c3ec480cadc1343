using System.Collections.Generic;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Concurrency.Interleaving.Search;

namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>One run of a scenario, step by step as the search tree says. Whoever has the baton runs its code; nobody else moves.</summary>
internal sealed class Schedule
{
    private const int MaximumSteps = 2000;

    private readonly Worker[] _workers;
    private readonly IReadOnlyList<ScenarioThread> _threads;
    private readonly SearchTree _tree;
    private readonly Weakness? _weakness;
    private readonly Trace? _trace;
    private readonly SemaphoreSlim _atEnd = new(0);
    private readonly List<ExecutedStep> _steps = [];
    private readonly Dictionary<object, (Worker Holder, int Depth)> _locks = new(ReferenceEqualityComparer.Instance);

    public Schedule(Worker[] workers, IReadOnlyList<ScenarioThread> threads, SearchTree tree, Weakness? weakness, Trace? trace)
    {
        _workers = workers;
        _threads = threads;
        _tree = tree;
        _weakness = weakness;
        _trace = trace;
    }

    /// <summary>Gets what went wrong; null where nothing did.</summary>
    public string? Failure { get; private set; }

    /// <summary>Gets whether it was given up because another one shows the same.</summary>
    public bool IsRedundant { get; private set; }

    /// <summary>Gets whether the scenario went another way than before, where it had the same to go by.</summary>
    public bool IsUnrepeatable { get; private set; }

    /// <summary>Gets whether all threads came to their ends.</summary>
    public bool IsComplete => !IsAbandoned;

    public int StepCount => _steps.Count;

    private bool IsAbandoned => IsRedundant || IsUnrepeatable || Failure is not null;

    /// <summary>Runs all threads to their ends. pre: called outside of them.</summary>
    public void Run()
    {
        for (int i = 0; i < _workers.Length; i++)
        {
            _workers[i].Enter(this, _workers.Length, _threads[i].Body);
        }

        Choose(null)?.HandBaton();
        _atEnd.Wait();

        // Whoever has not come to its end is at a step, and is thrown out of it, one after the other.
        foreach (Worker worker in _workers)
        {
            if (!worker.HasEnded)
            {
                worker.HandBaton();
                _atEnd.Wait();
            }
        }

        _atEnd.Dispose();
    }

    public string NameOf(Worker worker) => _threads[worker.Index].Name;

    public void Fail(string what) => Failure ??= IsRedundant || IsUnrepeatable ? null : what;

    public void ThrowIfAbandoned()
    {
        if (IsAbandoned)
        {
            throw new ScheduleAbandonedException();
        }
    }

    /// <summary>Waits until it is this thread's turn to take a step.</summary>
    public void Await(Worker worker, in Step step)
    {
        worker.Pending = step;
        PassBaton(worker);
        _trace?.Add(NameOf(worker), step.Site);
    }

    public void AcquireLock(Worker worker, object target, in StepSite site)
    {
        if (_locks.TryGetValue(target, out (Worker Holder, int Depth) held) && held.Holder == worker)
        {
            _locks[target] = (worker, held.Depth + 1);
            return;
        }

        Await(worker, new Step(StepKind.Acquire, AddressOf(target), site));
        _locks[target] = (worker, 1);
    }

    public void ReleaseLock(Worker worker, object target, in StepSite site)
    {
        if (IsAbandoned)
        {
            return;
        }

        int depth = _locks[target].Depth;
        if (depth > 1)
        {
            _locks[target] = (worker, depth - 1);
            return;
        }

        Await(worker, new Step(StepKind.Release, AddressOf(target), site));
        _locks.Remove(target);
    }

    public bool IsWeakened(in StepSite site, out Weakness weakness)
    {
        weakness = _weakness!;
        return _weakness is not null && _weakness.AppliesTo(site);
    }

    /// <summary>Says that the last step, which might have written, has only read.</summary>
    public void HasOnlyRead()
    {
        if (_steps[^1].Step is { Kind: StepKind.Write } step)
        {
            _steps[^1].Step = step with { Kind = StepKind.Read };
        }
    }

    /// <summary>Adds to the report what a step has found or made.</summary>
    public void Note<T>(T before, T after) => _trace?.Note(before, after);

    /// <summary>Hands the baton on. pre: the thread has ended.</summary>
    public void GoOn(Worker ended)
    {
        Worker? next = IsAbandoned ? null : Choose(ended);
        if (next is null)
        {
            _atEnd.Release();
        }
        else
        {
            next.HandBaton();
        }
    }

    private void PassBaton(Worker worker)
    {
        ThrowIfAbandoned();
        Worker? next = Choose(worker);
        if (next != worker)
        {
            if (next is null)
            {
                _atEnd.Release();
            }
            else
            {
                next.HandBaton();
            }

            worker.AwaitTurn();
        }

        ThrowIfAbandoned();
    }

    // The next to move; null where the schedule ends here.
    private Worker? Choose(Worker? current)
    {
        CloseLastStep();
        uint enabled = 0;
        bool anyLeft = false;
        foreach (Worker worker in _workers)
        {
            if (!worker.HasEnded)
            {
                anyLeft = true;
                enabled |= IsEnabled(worker) ? 1u << worker.Index : 0;
            }
        }

        if (enabled == 0 || _steps.Count == MaximumSteps)
        {
            if (anyLeft)
            {
                Fail(enabled == 0
                    ? "No thread can go on: each waits for a lock that another holds."
                    : $"No end after {MaximumSteps} steps.");
            }

            return null;
        }

        IsUnrepeatable = !_tree.TryChooseThread(_steps.Count, enabled, SleepAfterLastStep(), current?.Index ?? -1, out int chosen);
        IsRedundant = chosen < 0 && !IsUnrepeatable;
        if (chosen < 0)
        {
            return null;
        }

        Worker next = _workers[chosen];
        IsUnrepeatable = !_tree.IsAsBefore(_steps.Count, next.Pending.Site);
        Execute(next, next.Pending);
        return IsUnrepeatable ? null : next;
    }

    private bool IsEnabled(Worker worker)
    {
        if (worker.Pending.Kind != StepKind.Acquire)
        {
            return true;
        }

        foreach ((object target, _) in _locks)
        {
            if (AddressOf(target) == worker.Pending.Address)
            {
                return false;
            }
        }

        return true;
    }

    // Who slept before the last step and is not woken by it: what it would do comes to the same before and after.
    private uint SleepAfterLastStep()
    {
        if (_steps.Count == 0)
        {
            return 0;
        }

        uint sleep = 0;
        for (uint left = _tree.SleepAt(_steps.Count - 1); left != 0; left &= left - 1)
        {
            int index = BitOperations.TrailingZeroCount(left);
            sleep |= _workers[index].Pending.Conflicts(_steps[^1].Step) ? 0 : 1u << index;
        }

        return sleep;
    }

    private void Execute(Worker worker, in Step step) => _steps.Add(new ExecutedStep(worker.Index, _steps.Count, step));

    // What happened before the last step, and what it raced with: known when it is over, because a compare-exchange that failed has only
    // read.
    private void CloseLastStep()
    {
        if (_steps.Count == 0 || _steps[^1].Clock.Length > 0)
        {
            return;
        }

        ExecutedStep last = _steps[^1];
        int[] clock = _workers[last.Worker].Clock;
        int[] before = (int[])clock.Clone();

        // A lock that is held is released before it is taken: the race is with whoever took it, past the release in between.
        int[] pastReleases = (int[])clock.Clone();
        for (int i = last.Index - 1; i >= 0; i--)
        {
            ExecutedStep earlier = _steps[i];
            if (earlier.Worker == last.Worker || !earlier.Step.Conflicts(last.Step))
            {
                continue;
            }

            bool isRelease = earlier.Step.Kind == StepKind.Release && last.Step.Kind == StepKind.Acquire;
            bool isAcquire = earlier.Step.Kind == StepKind.Acquire && last.Step.Kind == StepKind.Acquire;
            if (!isRelease && !earlier.HappenedBefore(isAcquire ? pastReleases : clock))
            {
                _tree.AddBacktracking(i, Races.FindInitials(_steps, i, before));
            }

            earlier.MergeInto(clock);
            earlier.MergeInto(isRelease ? clock : pastReleases);
        }

        clock[last.Worker] = last.Index + 1;
        last.Clock = (int[])clock.Clone();
    }

    // Odd, which no location is.
    private static nint AddressOf(object target) => ((nint)RuntimeHelpers.GetHashCode(target) << 1) | 1;
}

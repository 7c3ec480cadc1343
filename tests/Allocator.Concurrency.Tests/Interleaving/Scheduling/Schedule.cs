using System.Numerics;
using Allocator.Concurrency.Interleaving.Memory;
using Allocator.Concurrency.Interleaving.Search;

namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>One run of a scenario, step by step as the search tree says. The thread with the baton runs; no other moves.</summary>
internal sealed partial class Schedule
{
    private const int MaximumSteps = 2000;

    private readonly Worker[] _workers;
    private readonly Lane[] _lanes;
    private readonly IReadOnlyList<ScenarioThread> _threads;
    private readonly SearchTree _tree;
    private readonly Weakness? _weakness;
    private readonly Trace? _trace;
    private readonly AutoResetEvent _atEnd = new(initialState: false);
    private readonly List<ExecutedStep> _steps = [];
    private readonly HeldLocks _locks = new();

    /// <summary>Makes one; its threads' stores reach memory late only where they are buffered.</summary>
    public Schedule(
        Worker[] workers, IReadOnlyList<ScenarioThread> threads, SearchTree tree, Weakness? weakness, Trace? trace, bool buffersStores)
    {
        _workers = workers;
        _threads = threads;
        _tree = tree;
        _weakness = weakness;
        _trace = trace;
        _happensBefore = new HappensBefore(workers.Length);
        _buffers = buffersStores ? new StoreBuffers(workers.Length) : null;
        _lanes = _buffers is null ? workers : [.. workers, .. _buffers.Lanes];
    }

    /// <summary>Gets what went wrong; null where nothing did.</summary>
    public string? Failure { get; private set; }

    /// <summary>Gets whether it was given up because another one shows the same.</summary>
    public bool IsRedundant { get; private set; }

    /// <summary>Gets whether the scenario went another way than before, where it had the same to go by.</summary>
    public bool IsUnrepeatable { get; private set; }

    /// <summary>Gets whether it was given up because a collection has moved what a thread had stored to.</summary>
    public bool IsDisturbed { get; private set; }

    /// <summary>Gets whether all threads came to their ends.</summary>
    public bool IsComplete => !IsAbandoned;

    public int StepCount => _steps.Count;

    private bool IsAbandoned => IsRedundant || IsUnrepeatable || IsDisturbed || Failure is not null;

    /// <summary>Runs all threads to their ends. pre: called outside of them.</summary>
    public void Run()
    {
        for (int i = 0; i < _workers.Length; i++)
        {
            _workers[i].Enter(this, _lanes.Length, _threads[i].Body);
        }

        Choose(null)?.HandBaton();
        _atEnd.WaitOne();

        // Threads that have not ended are each at a step, and are thrown out of it one after the other.
        foreach (Worker worker in _workers)
        {
            if (!worker.HasEnded)
            {
                worker.HandBaton();
                _atEnd.WaitOne();
            }
        }

        _atEnd.Dispose();
    }

    public string NameOf(Worker worker) => _threads[worker.Index].Name;

    public void Fail(string what) => Failure ??= IsRedundant || IsUnrepeatable || IsDisturbed ? null : what;

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

    public bool IsWeakened(in StepSite site, out Weakness weakness)
    {
        weakness = _weakness!;
        return _weakness is not null && _weakness.AppliesTo(site);
    }

    /// <summary>Adds to the report what a step has found or made.</summary>
    public void Note<T>(T before, T after) => _trace?.Note(before, after);

    /// <summary>Hands the baton on. pre: the thread has ended.</summary>
    public void GoOn(Worker ended)
    {
        Worker? next = IsAbandoned ? null : Choose(ended);
        if (next is null)
        {
            _atEnd.Set();
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
                _atEnd.Set();
            }
            else
            {
                next.HandBaton();
            }

            worker.AwaitTurn();
        }

        ThrowIfAbandoned();
    }

    // The next thread to move; null where the schedule ends here. Stores that reach memory before it does so have done it.
    private Worker? Choose(Worker? current)
    {
        while (true)
        {
            CloseLastStep();
            uint enabled = FindEnabled(out bool anyLeft);
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

            // Stores reach memory at once, unless it was found that this may matter.
            uint stores = enabled & ~((1u << _workers.Length) - 1);
            int first = stores != 0 ? BitOperations.TrailingZeroCount(stores) : current?.Index ?? -1;
            IsUnrepeatable = !_tree.TryChooseLane(_steps.Count, enabled, SleepAfterLastStep(), first, out int chosen);
            IsRedundant = chosen < 0 && !IsUnrepeatable;
            if (chosen < 0)
            {
                return null;
            }

            Lane next = _lanes[chosen];
            IsUnrepeatable = !_tree.IsAsBefore(_steps.Count, next.Pending.Site);
            Execute(next);
            if (next is not StoreBuffer stored)
            {
                return IsUnrepeatable ? null : (Worker)next;
            }

            if (IsUnrepeatable || !TryCommit(stored))
            {
                return null;
            }
        }
    }

    private uint FindEnabled(out bool anyLeft)
    {
        uint enabled = 0;
        anyLeft = _buffers?.IsEmpty == false;
        foreach (Lane lane in _lanes)
        {
            anyLeft |= lane is Worker { HasEnded: false };
            enabled |= IsEnabled(lane) ? 1u << lane.Index : 0;
        }

        return enabled;
    }

    private bool IsEnabled(Lane lane) => lane switch
    {
        StoreBuffer stores => _buffers!.IsEnabled(stores),
        Worker { HasEnded: true } => false,
        { Pending.Kind: StepKind.Acquire } => !_locks.IsHeld(lane.Pending.Address),
        _ => _buffers?.Allow(lane.Index, lane.Pending) != false,
    };

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
            sleep |= _lanes[index].Pending.Conflicts(_steps[^1].Step) ? 0 : 1u << index;
        }

        return sleep;
    }

    private void Execute(Lane lane)
    {
        if (lane is StoreBuffer stores)
        {
            _buffers!.MergeAwaited(stores);
        }
        else
        {
            _buffers?.MergeAwaited(lane.Index, lane.Pending, lane.Clock);
        }

        _steps.Add(new ExecutedStep(lane.Index, _steps.Count, lane.Pending));
    }

    // What happened before the last step, and what it raced with: known when it is over, because a compare-exchange that failed has only
    // read.
    private void CloseLastStep()
    {
        if (_steps.Count == 0 || _steps[^1].Clock.Length > 0)
        {
            return;
        }

        ExecutedStep last = _steps[^1];
        int[] clock = _lanes[last.Lane].Clock;
        int[] before = (int[])clock.Clone();

        // A lock that is held is released before it is taken: the race is with the thread that took it, past the release in between.
        int[] pastReleases = (int[])clock.Clone();
        for (int i = last.Index - 1; i >= 0; i--)
        {
            ExecutedStep earlier = _steps[i];
            if (earlier.Lane == last.Lane || !earlier.Step.Conflicts(last.Step))
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

        clock[last.Lane] = last.Index + 1;
        last.Clock = (int[])clock.Clone();
    }
}

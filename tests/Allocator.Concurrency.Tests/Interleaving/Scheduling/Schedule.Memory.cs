using Allocator.Concurrency.Interleaving.Memory;

namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <content>What the steps do to memory, and in which order the threads see it.</content>
internal sealed partial class Schedule
{
    private readonly HappensBefore _happensBefore;
    private readonly StoreBuffers? _buffers;

    /// <summary>Gets whether stores reach memory some time after they were made.</summary>
    public bool BuffersStores => _buffers is not null;

    public void AcquireLock(Worker worker, object target, in StepSite site)
    {
        if (_locks.TryReenter(worker, target))
        {
            return;
        }

        Await(worker, new Step(StepKind.Acquire, HeldLocks.AddressOf(target), site));
        _happensBefore.Acquire(worker.Index, HeldLocks.AddressOf(target));
        _locks.Add(worker, target);
    }

    public void ReleaseLock(Worker worker, object target, in StepSite site)
    {
        if (IsAbandoned || _locks.TryLeave(worker, target))
        {
            return;
        }

        Await(worker, new Step(StepKind.Release, HeldLocks.AddressOf(target), site));
        _happensBefore.Release(HeldLocks.AddressOf(target), _happensBefore.Publish(worker.Index));
        _locks.Remove(target);
    }

    /// <summary>Waits until the thread's stores have reached memory.</summary>
    public void Fence(Worker worker, in StepSite site)
    {
        if (BuffersStores)
        {
            Await(worker, new Step(StepKind.Fence, 0, site));
        }
    }

    /// <summary>Waits until the stores of all threads have reached memory; for nothing where it was planted to order nothing.</summary>
    public void FenceAll(Worker worker, in StepSite site, bool isOrdered)
    {
        if (BuffersStores)
        {
            Await(worker, new Step(isOrdered ? StepKind.ProcessFence : StepKind.Local, 0, site));
        }
    }

    /// <summary>Takes a step that reads, or reads and writes. What is not ordered learns of nothing.</summary>
    public void Step(Worker worker, in Step step, bool isOrdered)
    {
        Await(worker, step);
        int thread = worker.Index;
        if (step.Kind == StepKind.Update)
        {
            _happensBefore.Update(thread, step.Address);
        }
        else if (isOrdered)
        {
            _happensBefore.Acquire(thread, step.Address);
        }

        if (step.Site.Operation != nameof(Atomics.Interlocked.CompareExchange))
        {
            AccessKind kind = step.Kind == StepKind.Read ? AccessKind.AtomicRead : AccessKind.AtomicWrite;
            Access(thread, step.Address, kind, step.Site, isReleased: step.Kind == StepKind.Update);
        }
    }

    /// <summary>Says whether the last step, a compare-exchange, has written. Otherwise it has only read.</summary>
    public void HasCompared(bool hasWritten)
    {
        ExecutedStep last = _steps[^1];
        Step step = last.Step;
        AccessKind kind = hasWritten ? AccessKind.AtomicWrite : AccessKind.AtomicRead;
        Access(last.Lane, step.Address, kind, step.Site, isReleased: step.Kind == StepKind.Update);
        if (!hasWritten && step.Kind == StepKind.Update)
        {
            _happensBefore.HasOnlyRead();
        }

        last.Step = hasWritten ? step : step with { Kind = StepKind.Read };
    }

    /// <summary>Reads, the thread's own stores first.</summary>
    public T Read<T>(Worker worker, ref readonly T location, nint address) =>
        _buffers is not null && _buffers.TryRead(worker.Index, address, out T value) ? value : location;

    /// <summary>Makes a store, which reaches memory now or later.</summary>
    public void Store<T>(Worker worker, ref T location, T value, in Step step, bool isOrdered)
    {
        int thread = worker.Index;
        if (_buffers is null)
        {
            Await(worker, step);
            Access(thread, step.Address, AccessKind.AtomicWrite, step.Site);
            _happensBefore.Release(step.Address, isOrdered ? _happensBefore.Publish(thread) : null);
            Note(location, value);
            location = value;
            return;
        }

        ThrowIfAbandoned();
        _trace?.Add(NameOf(worker), step.Site);
        Access(thread, step.Address, AccessKind.AtomicWrite, step.Site);
        if (!isOrdered)
        {
            Settle(worker, step.Address, step.Site);
        }

        _buffers.Add(thread, step, _steps[^1], isOrdered ? _happensBefore.Publish(thread) : null, value);
    }

    /// <summary>Notes a plain access, which is no step.</summary>
    public void AccessPlain(Worker worker, nint address, AccessKind kind, string site)
    {
        if (!IsAbandoned)
        {
            Access(worker.Index, address, kind, site);
            Settle(worker, address, new StepSite("settles", "", "", "", 0));
        }
    }

    // What accesses memory directly finds the thread's own stores there.
    private void Settle(Worker worker, nint address, in StepSite site)
    {
        if (_buffers?.Holds(worker.Index, address) == true)
        {
            Await(worker, new Step(StepKind.Settle, address, site with { Operation = "settles" }));
        }
    }

    private void Access(int thread, nint address, AccessKind kind, object site, bool isReleased = false)
    {
        if (_happensBefore.Access(thread, address, kind, site, isReleased) is object other)
        {
            Fail($"Nothing orders {site} and {other}.");
        }
    }

    private bool TryCommit(StoreBuffer lane)
    {
        _trace?.Add($"{_threads[lane.Worker].Name}'s store", lane.Pending.Site with { Operation = "reaches memory" });
        BufferedStore? store = _buffers!.Commit(lane, _steps[^1], _trace);
        IsDisturbed = store is null;
        if (store is not null)
        {
            _happensBefore.Release(store.Step.Address, store.Published);
        }

        return !IsDisturbed;
    }
}

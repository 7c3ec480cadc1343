using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <content>What the finalizer finds.</content>
/// <remarks>
/// Finalizers run in no order. A user's own finalizer may dispose an owner whose guard is waiting for its finalizer too. Were the memory
/// rented again with that guard, its finalizer would take the new rent for an abandoned one. So memory whose guard a collection has found
/// unreachable gets another guard before it is rented again, and the old one has no part in it any more.
/// </remarks>
internal abstract partial class FinalizableGuard : IBackgroundWork
{
    // Cleared by the collection that finds the guard unreachable, before its finalizer runs.
    private readonly WeakReference<FinalizableGuard> _self;
    private BackgroundState _work;

    // Of abandoned memory, with its first part.
    private bool _isReported;

    // What ends its stay in quarantine; 0 where there is none.
    private long _stayEnds;
    private int _collectionsBefore;

    ~FinalizableGuard()
    {
        // Once more for each collection while it is in quarantine.
        if (IsConstructed && !Environment.HasShutdownStarted && (_isReported || TryAbandon()))
        {
            Context.Thread.Queue(this);
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets whether a span may still point into memory that was abandoned, and it would be another's at once.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether the memory has another guard: what the state word says is about a rent of that one.</summary>
    protected virtual bool IsReplaced => false;

    // Where the constructor failed the finalizer runs all the same.
    private bool IsConstructed => _self is not null;

    // What the finalizer has left, or a return for which there was no managed memory. What throws has changed nothing.
    void IBackgroundWork.DoWork()
    {
        if (RentState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            Report();
            if (Context.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine && !IsStayOver())
            {
                // The next collection that finds it unreachable has the finalizer look again.
                GC.ReRegisterForFinalize(this);
                return;
            }
        }

        EndAbandoned();
    }

    /// <summary>
    /// Gives memory that will be rented again another guard, which <see cref="Return"/> returns in place of this one. Before it can
    /// be rented: a finalizer that reads a new rent's state reads that too. A further call does nothing.
    /// </summary>
    protected virtual void Replace()
    {
    }

    // Before anything is handed back: where there is no managed memory for a guard nothing has changed. Returns whether one was found.
    private bool ReplaceFound()
    {
        bool any = false;
        for (FinalizableGuard? part = this; part is not null; part = part._next)
        {
            if (part.IsFoundUnreachable)
            {
                part.Replace();
                any = true;
            }
        }

        return any;
    }

    // On the finalizer thread: flips state and counters. The parts of a group leave it to the first.
    private bool TryAbandon()
    {
        RentState record = Record;
        long state;
        do
        {
            // In this order: the state of another guard's rent was written after the mark.
            state = Volatile.Read(ref record.State);
            if (!RentState.IsOutstanding(state) || IsReplaced)
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref record.State, state | RentState.Abandoned, state) != state);

        NoteAbandoned(isAllocation: true);
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            Volatile.Write(ref part.Record.State, part.Record.State | RentState.Abandoned);
            part.NoteAbandoned(isAllocation: false);
        }

        Context.Counters.CountAbandoned();
        return true;
    }

    private void Report()
    {
        if (!_isReported)
        {
            TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Context.Clock.NowMilliseconds - Record.RentedAtMilliseconds));
            MemoryDiagnostics.ReportAbandoned(
                new AbandonedMemoryEventArgs(Record.AllocationBytes, age, Trace?.StackTrace) { AllocatorName = Context.AllocatorName });
            _isReported = true;
        }
    }

    // At least one further Gen2 collection and one trim period, unless the memory is to be rented no more. Begins a stay.
    private bool IsStayOver()
    {
        if (_stayEnds == 0)
        {
            _collectionsBefore = GC.CollectionCount(2);
            _stayEnds = Context.Quarantine.Enter(Context.QuarantineMilliseconds);
        }

        return Context.IsClosed || Context.Quarantine.IsClosed
            || (GC.CollectionCount(2) != _collectionsBefore && Context.Clock.NowMilliseconds >= _stayEnds);
    }

    private void EndAbandoned()
    {
        bool isFound = ReplaceFound();
        if (_stayEnds != 0)
        {
            _stayEnds = 0;
            Context.Quarantine.Leave();
        }

        EndChain(isFound).Return();
    }

    private void NoteAbandoned(bool isAllocation)
    {
        OnAbandoned();
        if (NeedsQuarantine)
        {
            _mappings?.MappingQuarantined(CapacityInBytes, isAllocation);
        }
        else
        {
            _mappings?.MappingReturned(CapacityInBytes, isAllocation);
        }
    }

    private void NoteReturned()
    {
        OnReturned();
        if (NeedsQuarantine)
        {
            _mappings?.MappingLeftQuarantine(CapacityInBytes);
        }
    }
}

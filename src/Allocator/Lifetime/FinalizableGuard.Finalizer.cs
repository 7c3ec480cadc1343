using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <content>What the finalizer finds.</content>
/// <remarks>
/// Finalizers run in no order. A user's own finalizer may dispose an owner whose guard is waiting for its finalizer too. If the memory
/// were rented again with that guard, the finalizer would take the new rent for an abandoned one. So if a collection found the guard
/// unreachable, the memory gets another guard before its next rent, and the old one has no part in it any more.
/// </remarks>
internal abstract partial class FinalizableGuard : IBackgroundWork
{
    // Cleared by the collection that finds the guard unreachable, before its finalizer runs.
    private readonly WeakReference<FinalizableGuard> _self;
    private BackgroundState _work;

    // Whether abandoned memory has been reported. Kept in its first part.
    private bool _isReported;

    // The end of its stay in quarantine; 0 if it is not there.
    private long _stayEnds;
    private int _collectionsBefore;

    ~FinalizableGuard()
    {
        // Runs again at each collection while the memory is in quarantine.
        if (IsConstructed && !Environment.HasShutdownStarted && (_isReported || TryAbandon()))
        {
            Context.Thread.Queue(this);
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets whether abandoned memory could go to another renter at once although a span may still point into it.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether the memory has another guard. Then the state word is about a rent of that guard.</summary>
    protected virtual bool IsReplaced => false;

    // The finalizer runs even if the constructor failed.
    private bool IsConstructed => _self is not null;

    // Finishes the finalizer's work, or a return for which there was no managed memory. If this throws, nothing has changed.
    void IBackgroundWork.DoWork()
    {
        if (RentState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            Report();
            if (Context.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine && !IsStayOver())
            {
                // The finalizer runs again when the next collection finds this unreachable.
                GC.ReRegisterForFinalize(this);
                return;
            }
        }

        EndAbandoned();
    }

    /// <summary>
    /// Replaces the guard of memory that will be rented again; <see cref="Return"/> then returns the new one. Called before the memory can
    /// be rented. A finalizer that reads the state of a new rent then also sees the replacement. Further calls do nothing.
    /// </summary>
    protected virtual void Replace()
    {
    }

    // Before anything is handed back: if there is no managed memory for a guard, nothing has changed. Returns whether an unreachable guard
    // was found.
    private bool ReplaceFound()
    {
        bool any = false;
        for (FinalizableGuard? part = this; part is not null; part = part.Next)
        {
            if (part.IsFoundUnreachable)
            {
                part.Replace();
                any = true;
            }
        }

        return any;
    }

    // On the finalizer thread: changes state and counters. The parts of a group leave this to the first.
    private bool TryAbandon()
    {
        RentState record = Record;
        long state;
        do
        {
            // In this order, because the state of another guard's rent is written after the mark.
            state = Volatile.Read(ref record.State);
            if (!RentState.IsOutstanding(state) || IsReplaced)
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref record.State, state | RentState.Abandoned, state) != state);

        NoteAbandoned(isAllocation: true);
        for (FinalizableGuard? part = Next; part is not null; part = part.Next)
        {
            Volatile.Write(ref part.Record.State, part.Record.State | RentState.Abandoned);
            part.NoteAbandoned(isAllocation: false);
        }

        Context.Counters.Count(UsageFigure.Abandoned);
        return true;
    }

    private void Report()
    {
        if (!_isReported)
        {
            TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Context.Clock.NowMilliseconds - Record.RentedAtMilliseconds));
            MemoryDiagnostics.ReportAbandoned(
                new AbandonedMemoryEventArgs(Record.AllocationBytes, age, Trace?.StackTrace)
                {
                    AllocatorName = Context.Counters.AllocatorName,
                });
            _isReported = true;
        }
    }

    // A stay lasts at least one further Gen2 collection and one trim period, unless the memory will not be rented again. The first call
    // begins it.
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
        _mappings?.AddQuarantined(CapacityInBytes);
        _mappings?.MappingReturned(CapacityInBytes, isAllocation);
    }
}

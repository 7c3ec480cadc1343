using Allocator.Budgeting;
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

    // Of abandoned memory, with its first part: it was reported, and is to be handed back when it is dealt with next.
    private bool _mayRecycle;

    ~FinalizableGuard()
    {
        // A second run where the quarantine was closed: the memory has been in it.
        if (IsConstructed && !Environment.HasShutdownStarted && (_mayRecycle || TryAbandon()))
        {
            Background.Run(this);
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets or sets what ends the stay in quarantine. Used by <see cref="Quarantine"/> only, as is the next property.</summary>
    public (int CollectionsWhenAdded, long EndMilliseconds) Stay { get; set; }

    public FinalizableGuard? NextQuarantined { get; set; }

    /// <summary>Gets whether a span may still point into memory that was abandoned, and it would be another's at once.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether the memory has another guard: what the state word says is about a rent of that one.</summary>
    protected virtual bool IsReplaced => false;

    /// <summary>Gets whether <see cref="ReturnMemory"/> is cheap enough for the finalizer thread.</summary>
    protected virtual bool ReturnsWithoutSystemCall => false;

    // Where the constructor failed the finalizer runs all the same.
    private bool IsConstructed => _self is not null;

    // What the finalizer has left, or a return for which there was no managed memory. What throws has changed nothing.
    void IBackgroundWork.DoWork()
    {
        if (!_mayRecycle && BlockState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            SettleAbandoned();
        }
        else
        {
            Recycle();
        }
    }

    /// <summary>
    /// Gives memory that will be rented again another guard, which <see cref="ReturnMemory"/> returns in place of this one. Before it can
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
        BlockState record = Record;
        long state;
        do
        {
            // In this order: the state of another guard's rent was written after the mark.
            state = Volatile.Read(ref record.State);
            if (!BlockState.IsOutstanding(state) || IsReplaced)
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref record.State, state | BlockState.Abandoned, state) != state);

        NoteAbandoned(isAllocation: true);
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            Volatile.Write(ref part.Record.State, part.Record.State | BlockState.Abandoned);
            part.NoteAbandoned(isAllocation: false);
        }

        Context.Counters.CountAbandoned();
        return true;
    }

    private void SettleAbandoned()
    {
        TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Context.Clock.NowMilliseconds - Record.RentedAtMilliseconds));
        MemoryDiagnostics.ReportAbandoned(
            new AbandonedMemoryEventArgs(Record.AllocationBytes, age, Trace?.StackTrace) { AllocatorName = Context.AllocatorName });
        _mayRecycle = true;
        if (Context.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine)
        {
            Context.Quarantine.Add(this);
        }
        else if ((Context.ClearOnReturn && NeedsQuarantine) || _next is not null || !ReturnsWithoutSystemCall)
        {
            // Zeroing, and giving memory back to the system, take too long for the finalizer thread.
            Background.Queue(this);
        }
        else
        {
            Recycle();
        }
    }

    private void Recycle()
    {
        BudgetPermit permit = HandBack(ReplaceFound());
        permit.Account?.ReturnLater(permit.Bytes);
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

    private void NoteRecycled()
    {
        OnRecycled();
        if (NeedsQuarantine)
        {
            _mappings?.MappingLeftQuarantine(CapacityInBytes);
        }
    }
}

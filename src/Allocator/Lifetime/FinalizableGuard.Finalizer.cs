using System;
using System.Runtime.CompilerServices;
using System.Threading;
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

    // The memory has another guard: what the state word says is about a rent of that one.
    private bool _isReplaced;

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

    /// <summary>Gets or sets the stay in quarantine. Used by <see cref="Quarantine"/> only, as is the next property.</summary>
    public Quarantine.Detention Stay { get; set; }

    public FinalizableGuard? NextQuarantined { get; set; }

    /// <summary>Gets whether a span may still point into memory that was abandoned, and it would be another's at once.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether <see cref="ReturnMemory"/> is cheap enough for the finalizer thread.</summary>
    protected virtual bool ReturnsWithoutSystemCall => false;

    // Where the constructor failed the finalizer runs all the same.
    private bool IsConstructed => _self is not null;

    private bool IsReplaced => Volatile.Read(ref _isReplaced);

    // What the finalizer has left. What throws has changed nothing.
    void IBackgroundWork.DoWork()
    {
        if (!BlockState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            FinishHandBack();
        }
        else if (_mayRecycle)
        {
            Recycle();
        }
        else
        {
            SettleAbandoned();
        }
    }

    /// <summary>Makes another guard for memory that will be rented again. Nothing where the guard ends with its memory.</summary>
    protected virtual void MakeSuccessor()
    {
    }

    /// <summary>
    /// Gives the memory another guard, which <see cref="ReturnMemory"/> returns in place of this one. Where there is no managed memory for
    /// it nothing has changed.
    /// </summary>
    protected void Replace()
    {
        MakeSuccessor();

        // Before the memory can be rented: a finalizer that reads a new rent's state reads this too.
        Volatile.Write(ref _isReplaced, true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReplace(BudgetAccount? account, long charged)
    {
        try
        {
            Replace();
            return true;
        }
        catch (OutOfMemoryException)
        {
            _permit = account is null ? default : new BudgetPermit(account, charged);
            Background.Queue(this);
            return false;
        }
    }

    private void FinishHandBack()
    {
        Replace();
        BudgetPermit permit = TakePermit();
        ReturnMemory(ofGroup: true);
        permit.Account?.ReturnLater(permit.Bytes);
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
            Context.Quarantine.Add(this, Context.QuarantineMilliseconds, Context.CollectsToFindAbandoned);
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

    // Ends the quarantine. The first part comes last: until then it has what is left to do.
    private void Recycle()
    {
        bool ofGroup = _next is not null;
        BudgetAccount? account = _permit.Account;
        long bytes = 0;
        try
        {
            while (_next is FinalizableGuard part)
            {
                FinalizableGuard? next = part._next;
                long share = account is null ? 0 : part.CapacityInBytes;
                part.EndAbandoned();
                part._next = null;
                _next = next;
                _permit = account is null ? default : new BudgetPermit(account, _permit.Bytes - share);
                bytes += part.HandBack(account, share, ofGroup: true);
            }

            EndAbandoned();
            _mayRecycle = false;
            bytes += HandBack(account, TakePermit().Bytes, ofGroup);
        }
        finally
        {
            account?.ReturnLater(bytes);
        }
    }

    private void EndAbandoned()
    {
        NoteRecycled();
        Volatile.Write(ref Record.State, BlockState.Next(Record.State));
        ClearForNext(TraceEnd.Abandoned);
    }

    private void NoteAbandoned(bool isAllocation)
    {
        OnAbandoned();
        if (_isMapping && NeedsQuarantine)
        {
            Context.Counters.MappingQuarantined(CapacityInBytes, isAllocation);
        }
        else
        {
            CountReturned(isAllocation);
        }
    }

    private void NoteRecycled()
    {
        OnRecycled();
        if (_isMapping && NeedsQuarantine)
        {
            Context.Counters.MappingLeftQuarantine(CapacityInBytes);
        }
    }
}

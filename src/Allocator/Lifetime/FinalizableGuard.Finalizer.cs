using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <content>What the finalizer finds, and the agreement between it and a return or rent of the memory at the same time.</content>
/// <remarks>
/// Finalizers run in no order. One of a user's own objects may dispose an owner whose guard is waiting for its finalizer too. Were the memory rented again before that
/// finalizer ran, it would take the new renter's for abandoned. So memory whose guard has a finalizer pending is parked, and goes back when that has run: see <see cref="HandBack"/>.
/// </remarks>
internal abstract partial class FinalizableGuard : IBackgroundWork
{
    // Cleared by the collection that finds the guard unreachable, before its finalizer runs.
    private WeakReference<FinalizableGuard> _self;
    private BackgroundState _work;

    // Of abandoned memory, with its first part: it was reported, and is to be handed back when it is dealt with next.
    private bool _mayRecycle;

    ~FinalizableGuard()
    {
        if (IsConstructed && !Environment.HasShutdownStarted)
        {
            // Again where the quarantine was closed: the memory has been in it.
            bool isSecondRun = _mayRecycle;
            if (isSecondRun || TryAbandon())
            {
                Background.Run(this);
            }

            if (!isSecondRun)
            {
                EndFinalizer();
            }
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets or sets what is known of the stay in quarantine. Used by <see cref="Quarantine"/> only, as is the next property.</summary>
    public Quarantine.Detention Stay { get; set; }

    public FinalizableGuard? NextQuarantined { get; set; }

    /// <summary>Gets whether a span may still point into memory that was abandoned, and it would be another's at once.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether a collection has found this guard unreachable: the caller is a finalizer, or was called by one.</summary>
    protected bool IsFoundUnreachable => !_self.TryGetTarget(out _);

    /// <summary>
    /// Gives whether the memory, which the caller holds, is the caller's to hand on. It is not while the guard's own finalizer is pending: the finalizer then puts the memory back.
    /// On a return this happens where a finalizer of the user's disposed the owner; on a rent, where one rents from an allocator that was found unreachable itself.
    /// </summary>
    public bool TrySettle()
    {
        // This guard is on the stack: if no collection has found it unreachable so far, none will while it is in the caller's hand.
        return _self.TryGetTarget(out _) || TrySettleSlow();
    }

    /// <summary>Does what the finalizer has left: reports abandoned memory and puts it into quarantine, hands it back, or completes the hand-over. What throws has changed nothing.</summary>
    void IBackgroundWork.DoWork()
    {
        if (!GuardState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            CompleteHandover();
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TrySettleSlow()
    {
        if (Interlocked.Exchange(ref Record.Handover, 1) == 0)
        {
            return false;
        }

        try
        {
            Renew();
            return true;
        }
        catch (OutOfMemoryException)
        {
            // Then it comes back later, as if the finalizer had not run yet.
            Background.Queue(this);
            return false;
        }
    }

    // The only way back to the next renter. pre: the state is idle, and this is the one call for this rent.
    // Gives the bytes that the caller is to return to the account: none where the memory goes back later, and the bytes with it.
    private long HandBack(BudgetAccount? account, long charged, bool ofGroup)
    {
        if (account is not null)
        {
            _permit = new BudgetPermit(account, charged);
        }

        if (!TrySettle())
        {
            return 0;
        }

        if (account is not null)
        {
            _permit = default;
        }

        ReturnMemory(ofGroup);
        return charged;
    }

    // The finalizer's part of the same agreement. An idle guard of a pool that was collected ends here too; nothing will ever come second.
    private void EndFinalizer()
    {
        if (Interlocked.Exchange(ref Record.Handover, 1) == 0)
        {
            return;
        }

        if (ReturnsWithoutSystemCall)
        {
            Background.Run(this);
        }
        else
        {
            Background.Queue(this);
        }
    }

    private void CompleteHandover()
    {
        Renew();

        // Before the memory is back: then another renter may have it, and this guard.
        BudgetAccount? account = TakePermit(out long charged);
        ReturnMemory(ofGroup: true);
        account?.ReturnLater(charged);
    }

    // As new: with a finalizer to come, and none pending. pre: held exclusively, and the finalizer has run. Where it throws nothing has changed.
    private void Renew()
    {
        WeakReference<FinalizableGuard> self = new(this);
        GC.ReRegisterForFinalize(this);
        Record.Handover = 0;
        _self = self;
    }

    // On the finalizer thread: flips state and counters. The parts of a group leave it to the first.
    private bool TryAbandon()
    {
        ref BlockState record = ref Record;
        long state;
        do
        {
            state = Volatile.Read(ref record.State);
            if (!GuardState.IsOutstanding(state))
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref record.State, state | GuardState.Abandoned, state) != state);

        OnAbandoned(isAllocation: true);
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            Volatile.Write(ref part.Record.State, part.Record.State | GuardState.Abandoned);
            part.OnAbandoned(isAllocation: false);
        }

        Context.Counters.CountAbandoned();
        return true;
    }

    private void SettleAbandoned()
    {
        TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Context.Clock.NowMilliseconds - Record.RentedAtMilliseconds));
        MemoryDiagnostics.ReportAbandoned(new AbandonedMemoryEventArgs(Record.AllocationBytes, age, Trace?.StackTrace) { AllocatorName = Context.AllocatorName });
        _mayRecycle = true;
        if (Context.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine)
        {
            Context.Quarantine.Add(this, Context.QuarantineMilliseconds, Context.CollectsToFindAbandoned);
        }
        else if ((Context.ClearOnReturn && NeedsQuarantine) || _next is not null)
        {
            // Zeroing, and giving back parts that may be the system's, take too long for the finalizer thread.
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
            account = TakePermit(out long rest);
            bytes += HandBack(account, rest, ofGroup);
        }
        finally
        {
            account?.ReturnLater(bytes);
        }
    }

    private void EndAbandoned()
    {
        OnRecycled();
        Volatile.Write(ref Record.State, GuardState.Next(Record.State));
        ClearForNext(TraceEnd.Abandoned);
    }
}

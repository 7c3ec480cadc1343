using System;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <content>What the finalizer finds, and the agreement between it and whoever returns or rents the memory at the same time.</content>
/// <remarks>
/// Finalizers run in no order. One of a user's own objects may dispose an owner whose guard is waiting for its finalizer too. Were the memory rented again before that
/// finalizer ran, it would take the new renter's for abandoned. So memory whose guard has a finalizer pending is parked, and goes back when that has run: see <see cref="HandBack"/>.
/// </remarks>
internal abstract partial class NativeGuard
{
    // Cleared by the collection that finds the guard unreachable, before its finalizer runs.
    private WeakReference<NativeGuard> _self;

    ~NativeGuard()
    {
        if (IsConstructed && !Environment.HasShutdownStarted)
        {
            TryAbandon();
            EndFinalizer();
        }
    }

    /// <summary>Gets whether a span may still point into memory that was abandoned, and it would be another's at once.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether a collection has found this guard unreachable: whoever calls now is a finalizer, or was called by one.</summary>
    protected bool IsFoundUnreachable => !_self.TryGetTarget(out _);

    /// <summary>
    /// Gives whether the memory, which the caller holds, is the caller's to hand on. It is not while the guard's own finalizer is pending: the finalizer then puts the memory back.
    /// On a return this happens where a finalizer of the user's disposed the owner; on a rent, where one rents from an allocator that was found unreachable itself.
    /// </summary>
    public bool TrySettle()
    {
        // This guard is on the stack: if no collection has found it unreachable so far, none will while it is in the caller's hand.
        if (_self.TryGetTarget(out _))
        {
            return true;
        }

        if (Interlocked.Exchange(ref Record.Handover, 1) == 0)
        {
            return false;
        }

        Renew();
        return true;
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

    // The finalizer's part of the same agreement. An idle guard of a pool that was collected ends here too; nobody will ever come second.
    private void EndFinalizer()
    {
        if (Interlocked.Exchange(ref Record.Handover, 1) == 0)
        {
            return;
        }

        if (ReturnsWithoutSystemCall)
        {
            CompleteHandover();
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(static guard => ((NativeGuard)guard!).CompleteHandover(), this);
        }
    }

    private void CompleteHandover()
    {
        // First, because another renter may have the memory, and this guard, as soon as it is back.
        BudgetAccount? account = TakePermit(out long charged);
        Renew();
        ReturnMemory(ofGroup: true);
        account?.ReturnLater(charged);
    }

    // As new: with a finalizer to come, and none pending. pre: held exclusively, and the finalizer has run.
    private void Renew()
    {
        Record.Handover = 0;
        _self = new WeakReference<NativeGuard>(this);
        GC.ReRegisterForFinalize(this);
    }

    // On the finalizer thread: flips state and counters. The parts of a group leave it to the first.
    private void TryAbandon()
    {
        ref GuardRecord record = ref Record;
        long state;
        do
        {
            state = Volatile.Read(ref record.State);
            if (!GuardState.IsOutstanding(state))
            {
                return;
            }
        }
        while (Interlocked.CompareExchange(ref record.State, state | GuardState.Abandoned, state) != state);

        OnAbandoned(isAllocation: true);
        for (NativeGuard? part = _next; part is not null; part = part._next)
        {
            Volatile.Write(ref part.Record.State, part.Record.State | GuardState.Abandoned);
            part.OnAbandoned(isAllocation: false);
        }

        Policy.Counters.CountAbandoned();
        TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Policy.Clock.NowMilliseconds - record.RentedAtMilliseconds));
        MemoryDiagnostics.ReportAbandoned(new AbandonedMemoryEventArgs(record.AllocationBytes, age, Trace?.StackTrace) { AllocatorName = Policy.AllocatorName });
        if (Policy.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine)
        {
            Policy.Quarantine.Add(this, Policy.QuarantineMilliseconds);
        }
        else if ((Policy.ClearOnReturn && NeedsQuarantine) || _next is not null)
        {
            // Zeroing, and giving back parts that may be the system's, take too long for the finalizer thread.
            ThreadPool.UnsafeQueueUserWorkItem(static guard => ((NativeGuard)guard!).Recycle(), this);
        }
        else
        {
            Recycle();
        }
    }
}

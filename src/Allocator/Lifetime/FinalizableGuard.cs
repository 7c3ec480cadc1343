using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Guards unmanaged memory, and finds out when its owner was collected without <c>Dispose</c>: while the memory is out only the owner references
/// the guard, so the guard's finalizer runs when the owner is gone. The parts of a group form a chain behind the first, which speaks for all of them.
/// </summary>
internal abstract partial class FinalizableGuard : LifetimeGuard
{
    private FinalizableGuard? _next;

    // Of the whole chain, with its first part.
    private BudgetPermit _permit;

    protected FinalizableGuard(BlockState[] records, int index, AllocatorContext context)
        : base(records, index)
    {
        Context = context;
        _self = new WeakReference<FinalizableGuard>(this);
    }

    /// <summary>Gets the bytes that the system or the pool has given.</summary>
    public abstract long CapacityInBytes { get; }

    /// <summary>Gets the next part of the group that begins here.</summary>
    public FinalizableGuard? Next => _next;

    protected AllocatorContext Context { get; }

    /// <summary>Gets whether the allocating stack is kept even while nobody has subscribed to hear it.</summary>
    protected virtual bool KeepsStack => false;

    /// <summary>Puts a part behind this one. pre: both are held exclusively, and the chain has not begun.</summary>
    public void Append(FinalizableGuard next) => _next = next;

    /// <summary>Notes how much of the memory the renter can reach, and clears that where asked for and needed. pre: held exclusively, not begun.</summary>
    public void Prepare(long usedBytes, bool clean)
    {
        Record.UsedBytes = usedBytes;
        if (clean)
        {
            ClearUsed(evenIfZeroed: false);
        }
    }

    /// <summary>Starts the rent of this guard and all parts behind it. pre: held exclusively, prepared, and nobody told.</summary>
    /// <returns>The generation that the user keeps.</returns>
    public long BeginAllocation()
    {
        ref BlockState record = ref Record;
        record.RentedAtMilliseconds = Context.Clock.CoarseMilliseconds;
        record.AllocationBytes = CapacityOfChain();
        if (TraceSwitch.Rents || KeepsStack)
        {
            BeginTrace(ref record);
        }

        // From here on nothing can fail.
        record.Rents++;
        BeginMembers();

        OnRented(isAllocation: true);
        return Begin();
    }

    /// <summary>Notes what the rent is charged to; it gets that back when the memory is back. pre: the rent has begun, and nobody told.</summary>
    /// <remarks>What was taken for it and turned out not to be needed goes back now.</remarks>
    public void Charge(in BudgetPermit permit)
    {
        if (permit.Account is BudgetAccount account)
        {
            _permit = new BudgetPermit(account, Record.AllocationBytes);
            account.Return(permit.Bytes - Record.AllocationBytes);
        }
    }

    /// <summary>Hands the memory of this guard and all parts behind it back, although no rent began: something in between went wrong.</summary>
    public void Cancel()
    {
        FinalizableGuard? part = this;
        while (part is not null)
        {
            FinalizableGuard? next = part._next;
            part._next = null;
            part.EndTrace(TraceEnd.Abandoned);
            part.ReturnMemory(ofGroup: true);
            part = next;
        }
    }

    /// <summary>Gets whether nothing but the memory itself has to be handed back: there are no further parts, no trace and no charge.</summary>
    protected bool IsPlain => _next is null && Trace is null && _permit.Account is null;

    protected override void GiveBack()
    {
        FinalizableGuard? part = _next;
        BudgetAccount? account = TakePermit(out long charged);
        bool ofGroup = part is not null;
        long share = account is null || !ofGroup ? charged : CapacityInBytes;
        OnReturned(isAllocation: true);
        ClearForNext(Trace is not null && IsFoundUnreachable ? TraceEnd.ReturnedByFinalizer : TraceEnd.Returned);
        _next = null;
        long bytes = HandBack(account, share, ofGroup);
        while (part is not null)
        {
            part = part.EndMember(account, ref bytes);
        }

        // Last: whoever waits for it finds the memory.
        account?.Return(bytes);
    }

    /// <summary>Puts the memory where the next renter finds it, or gives it to the system. Counters of rents are not its business.</summary>
    /// <param name="ofGroup">Whether more than this one comes back at once.</param>
    protected abstract void ReturnMemory(bool ofGroup);

    /// <summary>Zeroes what the renter can reach. Memory known to be zero is left alone, unless a renter has had it since.</summary>
    protected abstract void ClearUsed(bool evenIfZeroed);

    /// <summary>Sees to it that the next renter finds what the allocator promised: zeros, or memory marked as dirty.</summary>
    protected abstract void CleanUp();

    /// <summary>Called before a rent begins, with all parts in place. It may still fail.</summary>
    protected virtual void OnTraced(string stack)
    {
    }

    protected virtual void OnRented(bool isAllocation)
    {
    }

    protected virtual void OnReturned(bool isAllocation)
    {
    }

    protected virtual void OnAbandoned(bool isAllocation)
    {
    }

    protected virtual void OnRecycled()
    {
    }

    // Before the memory is handed back: this guard may be another renter's right after.
    private BudgetAccount? TakePermit(out long bytes)
    {
        BudgetAccount? account = _permit.Account;
        bytes = 0;
        if (account is not null)
        {
            bytes = _permit.Bytes;
            _permit = default;
        }

        return account;
    }

    private void ClearForNext(TraceEnd end)
    {
        EndTrace(end);
        CleanUp();
    }

    private long CapacityOfChain()
    {
        long bytes = CapacityInBytes;
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            bytes += part.CapacityInBytes;
        }

        return bytes;
    }

    private void BeginMembers()
    {
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            part.OnRented(isAllocation: false);
            BeginWith(ref part.Record, BlockState.Member | 1);
        }
    }

    private FinalizableGuard? EndMember(BudgetAccount? account, ref long bytes)
    {
        FinalizableGuard? next = _next;
        _next = null;
        long share = account is null ? 0 : CapacityInBytes;
        Volatile.Write(ref Record.State, BlockState.Next(Record.State));
        OnReturned(isAllocation: false);
        ClearForNext(TraceEnd.Returned);
        bytes += HandBack(account, share, ofGroup: true);
        return next;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void BeginTrace(ref BlockState record)
    {
        record.RentedAtMilliseconds = Context.Clock.NowMilliseconds;
        Trace = MemoryDiagnostics.TryTrace(record.AllocationBytes, Context.AllocatorName, canLeak: true, isWanted: KeepsStack);
        if (Trace is AllocationTrace trace)
        {
            if (trace.StackTrace is string stack)
            {
                OnTraced(stack);
            }

            trace.WriteRented(Array is byte[] array ? RuntimeHelpers.GetHashCode(array) : Address, record.UsedBytes);
        }
    }
}

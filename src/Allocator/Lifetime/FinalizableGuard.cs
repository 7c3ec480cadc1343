using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Guards memory, and finds out when its owner was collected without <c>Dispose</c>: while the memory is outstanding only the owner
/// references the guard, so its finalizer runs when the owner is gone. The further guards of a group form a chain behind the first, which
/// speaks for all of them.
/// </summary>
[DebuggerDisplay("{GetType().Name,nq}: {CapacityInBytes} bytes, {DebuggerText,nq}")]
internal abstract partial class FinalizableGuard : LifetimeGuard
{
    // Null for blocks, which are counted by their records.
    private readonly AllocatorCounters? _mappings;

    private FinalizableGuard? _next;

    // Of the whole chain, with its first part; also of an idle block that has kept it.
    private BudgetPermit _permit;

    /// <summary>Makes a guard with a record of its own, for memory that the allocator counts as a mapping.</summary>
    protected FinalizableGuard(AllocatorContext context)
        : this(new BlockState(), context)
    {
        _mappings = context.Counters;
        Record.RunLength = 1;
    }

    protected FinalizableGuard(BlockState record, AllocatorContext context)
        : base(record)
    {
        Context = context;
        _self = new WeakReference<FinalizableGuard>(this);
    }

    /// <summary>Gets the bytes that the system or the pool has given.</summary>
    public abstract long CapacityInBytes { get; }

    /// <summary>Gets the next part of the group that begins here.</summary>
    public FinalizableGuard? Next => _next;

    /// <summary>Gets what the memory is charged to; null for nothing.</summary>
    public BudgetAccount? Account => _permit.Account;

    public AllocatorContext Context { get; }

    /// <summary>Gets whether the allocating stack is kept even while there is no subscriber.</summary>
    protected virtual bool KeepsStack => false;

    /// <summary>Gets whether a collection has found this guard unreachable: its finalizer is pending or has run.</summary>
    public bool IsFoundUnreachable => !_self.TryGetTarget(out _);

    /// <summary>Puts another guard of the same allocation behind this one. Both are held exclusively.</summary>
    public void Append(FinalizableGuard next)
    {
        Debug.Assert(_next is null && BlockState.IsIdle(Record.State));
        _next = next;
    }

    /// <summary>Notes how much of the memory the renter can reach, and clears that where asked for and needed.</summary>
    public void Prepare(long usedBytes, bool clean)
    {
        Debug.Assert(BlockState.IsIdle(Record.State));
        Record.UsedBytes = usedBytes;
        if (clean)
        {
            ClearUsed(evenIfZeroed: false);
        }

        MarkDirty();
    }

    /// <summary>Starts the rent of this guard and all behind it, prepared and held exclusively; returns the generation.</summary>
    public long BeginAllocation()
    {
        BlockState record = Record;
        record.RentedAtMilliseconds = Context.Clock.CoarseMilliseconds;
        record.AllocationBytes = CapacityOfChain();
        if (Tracing.Rents || KeepsStack)
        {
            BeginTrace(record);
        }

        // From here on nothing can fail.
        record.Rents++;
        for (FinalizableGuard? part = _next; part is not null; part = part._next)
        {
            part._mappings?.MappingRented(part.CapacityInBytes, isAllocation: false);
            BeginWith(part.Record, BlockState.Member | 1);
        }

        _mappings?.MappingRented(CapacityInBytes, isAllocation: true);
        return Begin();
    }

    /// <summary>
    /// Notes what the rent, which has begun, is charged to until the memory is back. What was taken and is not needed goes back now.
    /// </summary>
    public void Charge(in BudgetPermit permit)
    {
        if (permit.Account is BudgetAccount account)
        {
            Debug.Assert(_permit.Account is null);
            _permit = new BudgetPermit(account, Record.AllocationBytes);
            account.Return(permit.Bytes - Record.AllocationBytes);
        }
    }

    /// <summary>
    /// Charges a rent that is about to begin: nothing more where idle memory has kept its permit of that account; one of another account
    /// goes back. False where the account has no room: nothing has changed then.
    /// </summary>
    public bool TryCharge(BudgetAccount account, long bytes)
    {
        if (_permit.Account == account)
        {
            return true;
        }

        bool isTaken = account.TryTake(bytes, overtakes: false);
        if (isTaken)
        {
            BudgetPermit kept = _permit;
            _permit = new BudgetPermit(account, bytes);
            kept.Return();
        }

        return isTaken;
    }

    /// <summary>Takes what the memory is charged to. Before it is handed back: this guard may be another renter's right after.</summary>
    public BudgetPermit TakePermit()
    {
        BudgetPermit permit = _permit;
        if (permit.Account is not null)
        {
            _permit = default;
        }

        return permit;
    }

    /// <summary>Hands the memory of this guard and all behind it back, although no rent began.</summary>
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

    /// <summary>Gets whether nothing but the memory itself and its permit has to be handed back.</summary>
    protected bool IsPlain
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _next is null && Trace is null;
    }

    /// <summary>Gets whether what a renter wrote is cleared when the memory comes back.</summary>
    protected virtual bool IsClearedOnReturn => Context.ClearOnReturn;

    protected override void GiveBack(bool ofLease)
    {
        bool isFound;
        try
        {
            isFound = ReplaceFound();
        }
        catch (OutOfMemoryException)
        {
            Background.Queue(this);
            return;
        }

        // Last: a waiter that is served finds the memory.
        HandBack(isFound).Return();
    }

    /// <summary>Puts the memory where the next renter finds it, or gives it to the system.</summary>
    protected abstract void ReturnMemory(bool ofGroup);

    /// <summary>Zeroes what the renter can reach. Memory known to be zero is left alone, unless a renter has had it since.</summary>
    protected virtual void ClearUsed(bool evenIfZeroed)
    {
        if (Record.Zeroed && !evenIfZeroed)
        {
            return;
        }

        if (Array is byte[] array)
        {
            array.AsSpan(0, (int)Record.UsedBytes).Clear();
        }
        else
        {
            NativeBytes.Clear(Address, Record.UsedBytes);
        }
    }

    /// <summary>Notes that the memory may hold anything from now on: it is about to be rented.</summary>
    protected virtual void MarkDirty() => Record.Zeroed = false;

    /// <summary>Called before a rent begins, with all parts in place. It may still fail.</summary>
    protected virtual void OnTraced(string stack)
    {
    }

    protected virtual void OnAbandoned()
    {
    }

    protected virtual void OnRecycled()
    {
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

    // The only way back to the next renter, after a look for guards that were found unreachable. The first part comes last: until then it
    // has what is left to do, should anything throw. Returns what the memory was charged to.
    private BudgetPermit HandBack(bool isFound)
    {
        TraceEnd end = _mayRecycle ? TraceEnd.Abandoned : isFound ? TraceEnd.ReturnedByFinalizer : TraceEnd.Returned;

        // What has another guard does not go into the cache either, which is for what a thread uses again at once.
        bool ofGroup = isFound || _next is not null;
        while (_next is FinalizableGuard part)
        {
            _next = part._next;
            part._next = null;
            part.HandBackAlone(end, isAllocation: false, ofGroup: true);
        }

        return HandBackAlone(end, isAllocation: true, ofGroup);
    }

    private BudgetPermit HandBackAlone(TraceEnd end, bool isAllocation, bool ofGroup)
    {
        EndTrace(end);
        if (IsClearedOnReturn)
        {
            ClearUsed(evenIfZeroed: true);
        }

        if (BlockState.IsAbandoned(Record.State))
        {
            NoteRecycled();
        }
        else
        {
            _mappings?.MappingReturned(CapacityInBytes, isAllocation);
        }

        // Of the first part most often it is: ending the rent has made it so.
        if (!BlockState.IsIdle(Record.State))
        {
            Volatile.Write(ref Record.State, BlockState.Next(Record.State));
        }

        BudgetPermit permit = TakePermit();
        ReturnMemory(ofGroup);
        return permit;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void BeginTrace(BlockState record)
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

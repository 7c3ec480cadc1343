using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Guards memory, and notices if its owner was collected without <c>Dispose</c>: while the memory is outstanding only the owner references
/// the guard, so its finalizer runs when the owner is gone. The other guards of a group form a chain behind the first. The state of the
/// first is that of the whole group.
/// </summary>
[DebuggerDisplay("{GetType().Name,nq}: {CapacityInBytes} bytes, {DebuggerText,nq}")]
internal abstract partial class FinalizableGuard : LifetimeGuard
{
    // Null for blocks, which their records count.
    private readonly AllocatorCounters? _mappings;

    // The charge for the rent of the whole chain. Only the first guard has it, and only during the rent.
    private BudgetPermit _permit;

    /// <summary>Makes a guard with a record of its own, for memory that the allocator counts as a mapping.</summary>
    protected FinalizableGuard(AllocatorContext context)
        : this(new RentState(), context)
    {
        _mappings = context.Counters;
    }

    protected FinalizableGuard(RentState record, AllocatorContext context)
        : base(record)
    {
        Context = context;
        _self = new WeakReference<FinalizableGuard>(this);
    }

    /// <summary>Gets the bytes of memory behind this guard, whole blocks or pages.</summary>
    public abstract long CapacityInBytes { get; }

    public FinalizableGuard? Next { get; private set; }

    public BudgetAccount? Account => _permit.Account;

    public AllocatorContext Context { get; }

    /// <summary>Gets whether the allocating stack is kept even while there is no subscriber.</summary>
    protected virtual bool KeepsStack => false;

    /// <summary>Gets whether a collection has found this guard unreachable: its finalizer is pending or has run.</summary>
    public bool IsFoundUnreachable => !_self.TryGetTarget(out _);

    /// <summary>Puts another guard of the same allocation behind this one. Both are held exclusively.</summary>
    public void Append(FinalizableGuard next)
    {
        Debug.Assert(Next is null && RentState.IsIdle(Record.State) && RentState.IsIdle(next.Record.State));
        Debug.Assert(next.Next is null && next.Context == Context, "A part belongs to one allocation of one allocator.");
        Next = next;
    }

    public void NoteUse(long usedBytes) => Record.UsedBytes = usedBytes;

    /// <summary>
    /// Makes the bytes that the renter can reach resident, in the whole chain, after the container has granted them in one step. False if
    /// the container or the system refuses. The kernel's figures then contain them, and no later write ends the process.
    /// </summary>
    public bool TryPopulate(ref Refusals refusals)
    {
        long missing = SumOfChain(ofUngranted: true);
        if (missing == 0)
        {
            return true;
        }

        if (!Commitment.TryGrant(Context, missing, ref refusals))
        {
            return false;
        }

        try
        {
            FinalizableGuard? part = this;
            while (part?.TryPopulatePart() == true)
            {
                part = part.Next;
            }

            return part is null;
        }
        finally
        {
            Commitment.CancelGrant(Context, SumOfChain(ofUngranted: true));
        }
    }

    /// <summary>Clears the bytes that the renter can reach, if asked for and needed.</summary>
    public void Prepare(bool clean)
    {
        Debug.Assert(RentState.IsIdle(Record.State));
        if (clean)
        {
            ClearUsed(evenIfZeroed: false);
        }

        MarkDirty();
    }

    /// <summary>Starts the rent of this guard and all behind it. They are prepared and held exclusively. Returns the generation.</summary>
    public long BeginAllocation()
    {
        RentState record = Record;
        Debug.Assert(RentState.IsIdle(record.State) && _permit.Account is null, "The rent begins once, and is charged after.");
        record.RentedAtMilliseconds = Context.Clock.CoarseMilliseconds;
        record.AllocationBytes = SumOfChain(ofUngranted: false);
        if (Tracing.Rents || KeepsStack)
        {
            BeginTrace(record);
        }

        // From here on nothing can fail.
        record.Rents++;
        for (FinalizableGuard? part = Next; part is not null; part = part.Next)
        {
            part._mappings?.MappingRented(part.CapacityInBytes, isAllocation: false);
            BeginWith(part.Record, RentState.Member | 1);
        }

        _mappings?.MappingRented(CapacityInBytes, isAllocation: true);
        return Begin();
    }

    /// <summary>
    /// Notes the account of a rent that has begun. It is charged until the memory is back. A permit is an upper bound: the excess goes
    /// back now.
    /// </summary>
    public void Charge(in BudgetPermit permit)
    {
        if (permit.Account is BudgetAccount account)
        {
            Debug.Assert(_permit.Account is null && !RentState.IsIdle(Record.State), "A rent is charged once, when it has begun.");
            Debug.Assert(permit.Bytes >= Record.AllocationBytes, "A permit is an upper bound.");
            _permit = new BudgetPermit(account, Record.AllocationBytes);
            account.Return(permit.Bytes - Record.AllocationBytes);
        }
    }

    /// <summary>Charges a rent that is about to begin. False if the account has no room; nothing has changed then.</summary>
    public bool TryCharge(BudgetAccount account, long bytes)
    {
        Debug.Assert(_permit.Account is null && RentState.IsIdle(Record.State), "A rent is charged before it begins, once.");
        bool isTaken = account.TryTake(bytes, overtakes: false);
        if (isTaken)
        {
            _permit = new BudgetPermit(account, bytes);
        }

        return isTaken;
    }

    /// <summary>Returns the memory of this guard and all behind it although no rent began.</summary>
    public void Cancel()
    {
        FinalizableGuard? part = this;
        while (part is not null)
        {
            Debug.Assert(RentState.IsIdle(part.Record.State) && part._permit.Account is null, "No rent began.");
            FinalizableGuard? next = part.Next;
            part.Next = null;
            part.EndTrace(TraceEnd.Abandoned);
            part.Return(bypassesCache: true);
            part = next;
        }
    }

    protected virtual bool IsClearedOnReturn => Context.ClearOnReturn;

    protected override void EndRent(bool ofLease)
    {
        if (_mappings is null && Next is null && Trace is null && !Context.ClearOnReturn && (ofLease || !IsFoundUnreachable))
        {
            // The memory comes back first: a request that is served as the permit comes back then finds it.
            BudgetPermit permit = TakePermit();
            Return(bypassesCache: false);
            permit.Account?.Return(permit.Bytes);
        }
        else
        {
            EndRentSlow();
        }
    }

    /// <summary>Returns how many bytes within the renter's reach the container has not granted yet.</summary>
    protected virtual long UngrantedBytes() => 0;

    /// <summary>Populates those bytes, and notes them as granted. False if the system refuses some.</summary>
    protected virtual bool TryPopulatePart() => true;

    /// <summary>Puts the memory into its pool for the next renter, or returns it to the system.</summary>
    protected abstract void Return(bool bypassesCache);

    /// <summary>Zeroes the bytes that the renter can reach. Skips memory known to be zero, unless a renter has had it since.</summary>
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

    /// <summary>Notes that the memory may contain anything from now on: it is about to be rented.</summary>
    protected virtual void MarkDirty() => Record.Zeroed = false;

    /// <summary>Called before a rent begins, when all parts are in place. The rent may still fail.</summary>
    protected virtual void OnTraced(string stack)
    {
    }

    protected virtual void OnAbandoned()
    {
    }

    protected virtual void OnReturned()
    {
    }

    private long SumOfChain(bool ofUngranted)
    {
        long bytes = 0;
        for (FinalizableGuard? part = this; part is not null; part = part.Next)
        {
            bytes += ofUngranted ? part.UngrantedBytes() : part.CapacityInBytes;
        }

        return bytes;
    }

    // Called before the memory is handed back; afterwards another renter may have this guard.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private BudgetPermit TakePermit()
    {
        BudgetPermit permit = _permit;
        if (permit.Account is not null)
        {
            _permit = default;
        }

        return permit;
    }

    private void EndRentSlow()
    {
        bool isFound;
        try
        {
            isFound = ReplaceFound();
        }
        catch (OutOfMemoryException)
        {
            Context.Thread.Queue(this);
            return;
        }

        EndChain(isFound).Return();
    }

    // The only way back to the next renter, after unreachable guards have been replaced. The first guard comes last: if anything throws,
    // it still has the rest of the chain. Returns the permit.
    private BudgetPermit EndChain(bool isFound)
    {
        TraceEnd end = _isReported ? TraceEnd.Abandoned : isFound ? TraceEnd.ReturnedByFinalizer : TraceEnd.Returned;

        // The cache is for single blocks that a thread uses again at once. Groups, and blocks with a new guard, do not go there.
        bool bypassesCache = isFound || Next is not null;
        while (Next is FinalizableGuard part)
        {
            Next = part.Next;
            part.Next = null;
            part.EndPart(end, isAllocation: false, bypassesCache: true);
        }

        return EndPart(end, isAllocation: true, bypassesCache);
    }

    private BudgetPermit EndPart(TraceEnd end, bool isAllocation, bool bypassesCache)
    {
        EndTrace(end);
        if (IsClearedOnReturn)
        {
            ClearUsed(evenIfZeroed: true);
        }

        if (RentState.IsAbandoned(Record.State))
        {
            OnReturned();
            _mappings?.AddQuarantined(-CapacityInBytes);
        }
        else
        {
            _mappings?.MappingReturned(CapacityInBytes, isAllocation);
        }

        // The end of the rent made the first guard idle; the others still must become so.
        if (!RentState.IsIdle(Record.State))
        {
            Volatile.Write(ref Record.State, RentState.Next(Record.State));
        }

        Debug.Assert(Next is null && Trace is null, "Nothing but the memory is left to go back.");
        BudgetPermit permit = TakePermit();
        Return(bypassesCache);
        return permit;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void BeginTrace(RentState record)
    {
        record.RentedAtMilliseconds = Context.Clock.NowMilliseconds;
        Trace = MemoryDiagnostics.TryTrace(record.AllocationBytes, Context.Counters.AllocatorName, canLeak: true, isWanted: KeepsStack);
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

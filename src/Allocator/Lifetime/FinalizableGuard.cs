using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Guards memory, and notices if its owner was collected without <c>Dispose</c>: while the memory is outstanding only the owner references
/// the guard, so its finalizer runs when the owner is gone. The other guards of a group form a chain behind the first. The state of the
/// first is that of the whole group.
/// </summary>
/// <remarks>
/// Finalizers run in no order. A user's own finalizer may dispose an owner whose guard is waiting for its finalizer too. If the memory
/// were rented again with that guard, the finalizer would take the new rent for an abandoned one. So if a collection found the guard
/// unreachable, the memory gets another guard before its next rent, and the old one has no part in it any more.
/// </remarks>
[DebuggerDisplay("{GetType().Name,nq}: {CapacityInBytes} bytes, {DebuggerText,nq}")]
internal abstract class FinalizableGuard : LifetimeGuard, IBackgroundWork
{
    // Null for blocks, which their records count.
    private readonly AllocatorCounters? _mappings;

    // Cleared by the collection that finds the guard unreachable, before its finalizer runs.
    private readonly WeakReference<FinalizableGuard> _self;

    // The charge for the rent of the whole chain. Only the first guard has it, and only during the rent.
    private BudgetPermit _permit;

    // Set if the rent was dropped, in the first guard of its chain.
    private Abandonment? _abandonment;
    private BackgroundState _work;

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

    ~FinalizableGuard()
    {
        // Runs again at each collection while the memory is in quarantine.
        if (IsConstructed && !Environment.HasShutdownStarted && (_abandonment is not null || TryAbandon()))
        {
            Context.Thread.Queue(this);
        }
    }

    /// <summary>Gets the bytes of memory behind this guard, whole blocks or pages.</summary>
    public abstract long CapacityInBytes { get; }

    public FinalizableGuard? Next { get; private set; }

    public BudgetAccount? Account => _permit.Account;

    public AllocatorContext Context { get; }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets whether the allocating stack is kept even while there is no subscriber.</summary>
    protected virtual bool KeepsStack => false;

    /// <summary>Gets whether abandoned memory may be rented again at once, although a span may still point into it.</summary>
    protected virtual bool NeedsQuarantine => true;

    /// <summary>Gets whether another guard has replaced this one. The state word then describes a rent of that guard.</summary>
    protected virtual bool IsReplaced => false;

    // The finalizer runs even if the constructor failed.
    private bool IsConstructed => _self is not null;

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

    /// <summary>Returns how many bytes within the renter's reach the container has not granted yet; of this guard alone.</summary>
    public virtual long UngrantedBytes() => 0;

    /// <summary>Populates those bytes, and notes them as granted. False if the system refuses some.</summary>
    public virtual bool TryPopulate() => true;

    /// <summary>Clears the bytes that the renter can reach, if requested and needed.</summary>
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
        record.AllocationBytes = CapacityOfChain();
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

    // Finishes the finalizer's work, or a return for which there was no managed memory. If this throws, nothing has changed.
    void IBackgroundWork.DoWork()
    {
        if (RentState.IsAbandoned(Volatile.Read(ref Record.State)))
        {
            _abandonment ??= new Abandonment(Context);
            _abandonment.Report(Record, Trace);
            if (Context.Abandoned == AbandonedMemory.Quarantine && NeedsQuarantine && Account?.IsOfFailedJob != true
                && !_abandonment.IsStayOver())
            {
                // The finalizer runs again when the next collection finds this unreachable.
                GC.ReRegisterForFinalize(this);
                return;
            }
        }

        bool isFound = ReplaceFound();
        _abandonment?.EndStay();
        EndChain(isFound).Return();
    }

    protected virtual bool IsClearedOnReturn => Context.ClearOnReturn;

    protected override void EndRent(bool ofLease)
    {
        if (_mappings is null && Next is null && Trace is null && !Context.ClearOnReturn && (ofLease || !IsFoundUnreachable))
        {
            // The memory is returned first, so that a request which is served when the permit is returned finds it.
            BudgetPermit permit = TakePermit();
            Return(bypassesCache: false);
            permit.Account?.Return(permit.Bytes);
        }
        else
        {
            EndRentSlow();
        }
    }

    /// <summary>Puts the memory into its pool for the next renter, or returns it to the system.</summary>
    protected abstract void Return(bool bypassesCache);

    /// <summary>
    /// Replaces the guard of memory that will be rented again; <see cref="Return"/> then returns the new one. Called before the memory can
    /// be rented. A finalizer that reads the state of a new rent then also sees the replacement. Further calls do nothing.
    /// </summary>
    protected virtual void Replace()
    {
    }

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

    private long CapacityOfChain()
    {
        long bytes = 0;
        for (FinalizableGuard? part = this; part is not null; part = part.Next)
        {
            bytes += part.CapacityInBytes;
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
        TraceEnd end = _abandonment is not null ? TraceEnd.Abandoned : isFound ? TraceEnd.ReturnedByFinalizer : TraceEnd.Returned;

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

    private void NoteAbandoned(bool isAllocation)
    {
        OnAbandoned();
        _mappings?.AddQuarantined(CapacityInBytes);
        _mappings?.MappingReturned(CapacityInBytes, isAllocation);
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

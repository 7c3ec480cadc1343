using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Guards unmanaged memory, and finds out when its owner was collected without <c>Dispose</c>: while the memory is out only the owner references
/// the guard, so the guard's finalizer runs when the owner is gone. The parts of a group form a chain behind the first.
/// </summary>
internal abstract class NativeGuard : LifetimeGuard
{
    private NativeGuard? _next;
    private string? _allocationStackTrace;

    protected NativeGuard(GuardRecord[] records, int index, LifetimePolicy policy)
        : base(records, index) => Policy = policy;

    ~NativeGuard()
    {
        // Idle: the pool itself was collected, and its memory is freed elsewhere.
        if (!GuardState.IsIdle(Record.State) && !Environment.HasShutdownStarted)
        {
            Abandon();
        }
    }

    /// <summary>Gets the bytes that the system or the pool has given.</summary>
    public abstract long CapacityInBytes { get; }

    /// <summary>Gets the next part of the group that begins here.</summary>
    public NativeGuard? Next => _next;

    protected LifetimePolicy Policy { get; }

    /// <summary>Puts a part behind this one. pre: both are held exclusively, and the chain has not begun.</summary>
    public void Append(NativeGuard next) => _next = next;

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
        ref GuardRecord record = ref Record;
        record.Rents++;
        record.RentedAtMilliseconds = Policy.Clock.CoarseMilliseconds;
        record.AllocationBytes = CapacityInBytes;
        if (_next is not null)
        {
            BeginMembers(ref record);
        }

        if (MemoryDiagnostics.CapturesStacks)
        {
            CaptureStack(ref record);
        }

        OnRented(isAllocation: true);
        return Begin();
    }

    /// <summary>Hands the memory of this guard and all parts behind it back, although no rent began: something in between went wrong.</summary>
    public void Cancel()
    {
        NativeGuard? part = this;
        while (part is not null)
        {
            NativeGuard? next = part._next;
            part._next = null;
            part.ReturnMemory(ofGroup: true);
            part = next;
        }
    }

    /// <summary>Ends the quarantine: hands abandoned memory back.</summary>
    public void Recycle()
    {
        OnRecycled();

        // First, because another renter may have the memory, and this guard, as soon as it is back.
        GC.ReRegisterForFinalize(this);
        Volatile.Write(ref Record.State, GuardState.Next(Record.State));
        ClearForNext();
        ReturnMemory(ofGroup: false);
    }

    protected sealed override void GiveBack()
    {
        NativeGuard? part = _next;
        OnReturned(isAllocation: true);
        ClearForNext();
        if (part is null)
        {
            ReturnMemory(ofGroup: false);
            return;
        }

        _next = null;
        ReturnMemory(ofGroup: true);
        while (part is not null)
        {
            part = part.EndMember();
        }
    }

    /// <summary>Puts the memory where the next renter finds it, or gives it to the system. Counters of rents are not its business.</summary>
    /// <param name="ofGroup">Whether more than this one comes back at once.</param>
    protected abstract void ReturnMemory(bool ofGroup);

    /// <summary>Gets whether <see cref="ReturnMemory"/> is cheap enough for the finalizer thread.</summary>
    protected abstract bool ReturnsWithoutSystemCall { get; }

    /// <summary>Zeroes what the renter can reach. Memory known to be zero is left alone, unless a renter has had it since.</summary>
    protected abstract void ClearUsed(bool evenIfZeroed);

    /// <summary>Marks the memory as dirty, for a return without clearing.</summary>
    protected abstract void MarkDirty();

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

    private void ClearForNext()
    {
        if (_allocationStackTrace is not null)
        {
            _allocationStackTrace = null;
        }

        if (Policy.ClearOnReturn)
        {
            // What was known to be zero around the renter's part still is: nobody could write there.
            ClearUsed(evenIfZeroed: true);
        }
        else
        {
            MarkDirty();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void BeginMembers(ref GuardRecord first)
    {
        for (NativeGuard? part = _next; part is not null; part = part._next)
        {
            first.AllocationBytes += part.CapacityInBytes;
            part.OnRented(isAllocation: false);
            BeginWith(ref part.Record, GuardState.Member | 1);
        }
    }

    private NativeGuard? EndMember()
    {
        NativeGuard? next = _next;
        _next = null;
        Volatile.Write(ref Record.State, GuardState.Next(Record.State));
        OnReturned(isAllocation: false);
        ClearForNext();
        ReturnMemory(ofGroup: true);
        return next;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CaptureStack(ref GuardRecord record)
    {
        record.RentedAtMilliseconds = Policy.Clock.NowMilliseconds;
        _allocationStackTrace = Environment.StackTrace;
    }

    // On the finalizer thread: flips state and counters. The parts of a group come here one by one.
    private void Abandon()
    {
        ref GuardRecord record = ref Record;
        bool isAllocation = (record.State & GuardState.Member) == 0;
        Volatile.Write(ref record.State, record.State | GuardState.Abandoned);
        _next = null;
        OnAbandoned(isAllocation);
        if (isAllocation)
        {
            Policy.Counters.CountAbandoned();
            MemoryDiagnostics.CountAbandoned();
            TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, Policy.Clock.NowMilliseconds - record.RentedAtMilliseconds));
            MemoryDiagnostics.ReportAbandoned(new AbandonedMemoryEventArgs(record.AllocationBytes, age, _allocationStackTrace));
        }

        if (Policy.Abandoned == AbandonedMemory.Quarantine)
        {
            Policy.Quarantine.Add(this, Policy.QuarantineMilliseconds);
        }
        else if (ReturnsWithoutSystemCall && !Policy.ClearOnReturn)
        {
            Recycle();
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(static guard => ((NativeGuard)guard!).Recycle(), this);
        }
    }
}

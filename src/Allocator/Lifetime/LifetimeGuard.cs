using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Decides when a piece of memory goes back: when its owner is disposed and nobody pins or uses it any more, and then exactly once.
/// It is made once and serves one rent after the other. Each user holds the generation of theirs, and whatever they try later is refused.
/// </summary>
internal abstract class LifetimeGuard
{
    private readonly GuardRecord[] _records;
    private readonly int _index;

    // With a trace: made when the rent begins, because giving back must not fail for want of memory.
    private EndedGuard? _tracedEnd;

    protected LifetimeGuard(GuardRecord[] records, int index)
    {
        _records = records;
        _index = index;
    }

    /// <summary>Gets where unmanaged memory begins.</summary>
    public nint Address { get; protected set; }

    /// <summary>Gets the memory, where it is a managed array; otherwise null.</summary>
    public byte[]? Array { get; protected set; }

    /// <summary>Gets the bytes that the renter can reach.</summary>
    public long UsedBytes => Record.UsedBytes;

    /// <summary>Gets or sets what is known of the rent that goes on, where it is traced.</summary>
    protected AllocationTrace? Trace
    {
        get => _tracedEnd?.RentTrace;
        set => _tracedEnd = value is null ? null : new EndedGuard(value);
    }

    /// <summary>Gets whether the constructor ran to its end; where it did not, the finalizer runs all the same.</summary>
    protected bool IsConstructed => _records is not null;

    protected ref GuardRecord Record => ref _records[_index];

    /// <summary>Starts a rent. pre: the caller holds the memory exclusively, and has told nobody.</summary>
    /// <returns>The generation that the user keeps.</returns>
    public long Begin() => BeginWith(ref Record, 1);

    /// <summary>Gives what an owner is to remember of the rent of that generation. pre: called before the rent is ended.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public EndedRent Remember(long generation)
    {
        EndedGuard ended = _tracedEnd ?? EndedGuard.Instance;
        long bytes = Volatile.Read(ref Record.UsedBytes);
        long started = Volatile.Read(ref Record.RentedAtMilliseconds);

        // Read before the state: where that is still ours, so was the rest.
        return GuardState.Generation(Volatile.Read(ref Record.State)) == generation && this is not EndedGuard
            ? EndedRent.Create(ended, generation, bytes, started)
            : EndedRent.Unchanged(this, generation);
    }

    /// <summary>Gives whether the rent of that generation goes on: not disposed, not returned, not abandoned.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsHeld(long generation) => (Volatile.Read(ref Record.State) & ~GuardState.References) == generation;

    /// <summary>Gives a span over the memory. The caller has checked <see cref="IsHeld"/>, and keeps the owner alive.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public unsafe Span<T> GetSpan<T>(int length)
        where T : struct =>
        Array is null ? new Span<T>((void*)Address, length) : GetArraySpan<T>(length);

    /// <summary>Adds a reference, which keeps the memory out of the pool past <see cref="Dispose"/>.</summary>
    /// <returns>False, and nothing changes, where the rent is over.</returns>
    public bool TryAddReference(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~GuardState.References) != generation)
            {
                return false;
            }

            if ((seen & GuardState.References) == GuardState.References)
            {
                Throw.TooManyReferences();
            }

            if (Interlocked.CompareExchange(ref state, seen + 1, seen) == seen)
            {
                return true;
            }
        }
    }

    /// <summary>Takes a reference of <see cref="TryAddReference"/> away again; the last one to go after <see cref="Dispose"/> gives the memory back.</summary>
    /// <returns>True where the rent is over, by this call or before it.</returns>
    /// <remarks>One call too many does nothing: it can take neither the owner's own reference nor a later renter's.</remarks>
    public bool RemoveReference(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            long ofOwner = (seen & GuardState.Disposed) == 0 ? 1 : 0;
            if (IsOver(seen, generation) || (seen & GuardState.References) <= ofOwner)
            {
                return IsOver(seen, generation);
            }

            bool isLast = (seen & GuardState.References) == 1;
            if (Interlocked.CompareExchange(ref state, isLast ? GuardState.Next(seen) : seen - 1, seen) == seen)
            {
                return isLast && GiveBackNow();
            }
        }
    }

    /// <summary>Ends the rent of that generation. What is pinned or in use stays out until it no longer is. A second call does nothing.</summary>
    /// <returns>True where the rent is over, by this call or before it.</returns>
    public bool Dispose(long generation)
    {
        // One compare-exchange: the usual rent has no reference but its owner's.
        return Interlocked.CompareExchange(ref Record.State, GuardState.Next(generation), generation + 1) == generation + 1
            ? GiveBackNow()
            : DisposeSlow(generation);
    }

    /// <summary>As <see cref="Dispose"/>, and tells who did it. pre: the caller has a reference, so that the memory does not go back now.</summary>
    /// <returns>True for the one call that ended the rent.</returns>
    public bool TryDisposeReferenced(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~GuardState.References) != generation)
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref state, (seen | GuardState.Disposed) - 1, seen) == seen)
            {
                return true;
            }
        }
    }

    /// <summary>Hands the memory to whoever keeps it next. The state word is idle already, and this call is the only one for this rent.</summary>
    protected abstract void GiveBack();

    /// <summary>Ends the trace of the rent, where there is one. pre: the rent is over, or never began.</summary>
    protected void EndTrace(TraceEnd end)
    {
        if (Trace is AllocationTrace trace)
        {
            Trace = null;
            trace.End(end);
        }
    }

    protected static long BeginWith(ref GuardRecord record, long flagsAndReferences)
    {
        long generation = record.State;
        Volatile.Write(ref record.State, generation | flagsAndReferences);
        return generation;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool DisposeSlow(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~GuardState.References) != generation)
            {
                return IsOver(seen, generation);
            }

            bool isLast = (seen & GuardState.References) == 1;
            if (Interlocked.CompareExchange(ref state, isLast ? GuardState.Next(seen) : (seen | GuardState.Disposed) - 1, seen) == seen)
            {
                return isLast && GiveBackNow();
            }
        }
    }

    private static bool IsOver(long state, long generation) => GuardState.Generation(state) != generation || (state & GuardState.Abandoned) != 0;

    private bool GiveBackNow()
    {
        GiveBack();
        return true;
    }

    private Span<T> GetArraySpan<T>(int length)
        where T : struct
    {
        // The check of a slice, made here: only where the memory is the caller's own is the array too short.
        Span<T> elements = MemoryMarshal.Cast<byte, T>(Array.AsSpan());
        return (uint)length <= (uint)elements.Length ? elements.Slice(0, length) : ((WrappedGuard<T>)this).Span;
    }
}

using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Decides when memory goes back: exactly once, when its owner is disposed and nothing pins or uses it any more. One guard serves one rent
/// after the other. Each owner has the generation of its own rent, and a use with an earlier generation is refused.
/// </summary>
[DebuggerDisplay("{GetType().Name,nq}: {DebuggerText,nq}")]
internal abstract class LifetimeGuard(RentState record)
{
    // Only during a traced rent. Made when the rent begins, because its return must not fail without managed memory. An ended guard
    // references itself here.
    private EndedGuard? _tracedEnd;
    private nint _address;
    private byte[]? _array;

    // Address, array and length of a rent are read first and the state after them, by volatile reads, which keep that order on every
    // processor. The end of a rent changes the state first. So a state that is still the rent's own confirms what was read before it.

    /// <summary>Gets the start of unmanaged memory. Valid if <see cref="IsHeld"/> is true afterwards, or a reference is held.</summary>
    public nint Address
    {
        get => Volatile.Read(ref _address);
        protected set => _address = value;
    }

    /// <summary>Gets the managed array, or null for unmanaged memory. Valid as <see cref="Address"/> is.</summary>
    public byte[]? Array
    {
        get => Volatile.Read(ref _array);
        protected set => _array = value;
    }

    /// <summary>Gets the bytes that the renter can reach. Valid as <see cref="Address"/> is.</summary>
    public long UsedBytes => Volatile.Read(ref Record.UsedBytes);

    /// <summary>Gets or sets the trace of the current rent; null if it is not traced.</summary>
    protected AllocationTrace? Trace
    {
        get => _tracedEnd?.RentTrace;
        set => _tracedEnd = value is null ? null : this as EndedGuard ?? new EndedGuard(value);
    }

    protected RentState Record { get; } = record;
    protected string DebuggerText => Record.ToString();

    /// <summary>Starts a rent of memory that the caller holds exclusively; returns the generation that the user keeps.</summary>
    public long Begin() => BeginWith(Record, 1);

    /// <summary>Returns the object that replaces the guard in its owner once the rent is over. Called before the rent ends.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public EndedGuard EndOf(long generation) =>
        Volatile.Read(ref _tracedEnd) is EndedGuard traced ? EndOfTraced(traced, generation) : EndedGuard.Instance;

    /// <summary>Describes whether the rent of that generation goes on, and, if known, for how long.</summary>
    public string Describe(long generation)
    {
        long started = Volatile.Read(ref Record.RentedAtMilliseconds);
        return !IsHeld(generation) ? "disposed"
            : Trace is { } trace ? FormattableString.Invariant($"outstanding {trace.Age.TotalSeconds:0.0} s")
            : started != 0 ? FormattableString.Invariant($"outstanding about {Math.Max(0, Environment.TickCount64 - started) / 1000} s")
            : "outstanding";
    }

    /// <summary>Returns whether the rent of that generation goes on: not disposed, not returned, not abandoned.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsHeld(long generation) => (Volatile.Read(ref Record.State) & ~RentState.References) == generation;

    /// <summary>Returns a span over the memory of a rent. The caller holds a reference to it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public unsafe Span<T> GetSpan<T>(int length)
        where T : struct
    {
        Debug.Assert(length == 0 || !RentState.IsIdle(Volatile.Read(ref Record.State)), "The caller holds a reference.");
        return Array is byte[] array ? GetArraySpan<T>(array, length) : new Span<T>((void*)Address, length);
    }

    /// <summary>Returns a span over the memory of a rent that another thread may be ending. False if it is over.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public unsafe bool TryGetSpan<T>(long generation, int length, out Span<T> span)
        where T : struct
    {
        byte[]? array = Array;
        nint address = Address;
        bool isHeld = IsHeld(generation);
        span = !isHeld ? default : array is null ? new Span<T>((void*)address, length) : GetArraySpan<T>(array, length);
        return isHeld;
    }

    /// <summary>Adds a reference, which keeps the memory past <see cref="Dispose"/>. False if the rent is over.</summary>
    public bool TryAddReference(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~RentState.References) != generation)
            {
                return false;
            }

            if ((seen & RentState.References) == RentState.References)
            {
                Throw.TooManyReferences();
            }

            if (Interlocked.CompareExchange(ref state, seen + 1, seen) == seen)
            {
                return true;
            }
        }
    }

    /// <summary>
    /// Removes a reference of <see cref="TryAddReference"/>. After <see cref="Dispose"/>, removing the last reference returns the memory.
    /// </summary>
    /// <returns>True if the rent is over, by this call or before it.</returns>
    /// <remarks>
    /// A surplus call, as for a copy of a <see cref="MemoryHandle"/>, ends another pin of the same rent if there is one, because pins are
    /// only counted. It removes neither the owner's own reference nor a later renter's.
    /// </remarks>
    public bool RemoveReference(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            long ofOwner = (seen & RentState.Disposed) == 0 ? 1 : 0;
            if (IsOver(seen, generation) || (seen & RentState.References) <= ofOwner)
            {
                return IsOver(seen, generation);
            }

            bool isLast = (seen & RentState.References) == 1;
            if (Interlocked.CompareExchange(ref state, isLast ? RentState.Next(seen) : seen - 1, seen) == seen)
            {
                return isLast && EndRentNow();
            }
        }
    }

    /// <summary>
    /// Pins the memory from one element on, or from its end, by a reference that outlives <see cref="Dispose"/>. An array is also pinned by
    /// a handle. The object that is called back keeps the memory's owner alive.
    /// </summary>
    public unsafe MemoryHandle Pin<T>(long generation, int length, int elementIndex, IPinnable pinnable, nint offsetInBytes = 0)
        where T : struct
    {
        if ((uint)elementIndex > (uint)length)
        {
            Throw.OutOfRange(nameof(elementIndex), elementIndex, $"must be from 0 to {length}");
        }

        return Pin<T>(generation, pinnable, offsetInBytes + (nint)elementIndex * Unsafe.SizeOf<T>());
    }

    /// <summary>As the other overload. The offset is within the memory; T is the type that its guard was made with.</summary>
    public unsafe MemoryHandle Pin<T>(long generation, IPinnable pinnable, nint offset)
        where T : struct
    {
        if (!TryAddReference(generation))
        {
            Throw.Disposed(nameof(IMemoryOwner<T>), this);
        }

        if (Array is not byte[] array)
        {
            return new MemoryHandle((byte*)Address + offset, default, pinnable);
        }

        try
        {
            if (this is WrappedGuard<T> wrapped)
            {
                return wrapped.Pin(offset, pinnable);
            }

            NestedPin pin = new(pinnable);
            GCHandle handle = GCHandle.Alloc(array, GCHandleType.Pinned);
            return pin.Hold(new MemoryHandle((void*)handle.AddrOfPinnedObject(), handle), offset);
        }
        catch
        {
            RemoveReference(generation);
            throw;
        }
    }

    /// <summary>
    /// Ends the rent of that generation. Memory stays outstanding while it is pinned or in use. Further calls do nothing.
    /// </summary>
    /// <returns>True if the rent is over, by this call or before it.</returns>
    /// <remarks>One compare-exchange: usually a rent has only its owner's reference.</remarks>
    public bool Dispose(long generation) =>
        Interlocked.CompareExchange(ref Record.State, RentState.Next(generation), generation + 1) == generation + 1
            ? EndRentNow()
            : DisposeSlow(generation);

    /// <summary>As <see cref="Dispose"/>, for the owner that references the guard: an ended one takes its place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void DisposeAndForget(ref LifetimeGuard guard, long generation)
    {
        LifetimeGuard before = guard;
        EndedGuard ended = before.EndOf(generation);
        if (before.Dispose(generation))
        {
            guard = ended;
        }
    }

    /// <summary>As <see cref="RemoveReference"/>, for the owner that references the guard.</summary>
    public static void RemoveReferenceAndForget(ref LifetimeGuard guard, long generation)
    {
        LifetimeGuard before = guard;
        EndedGuard ended = before.EndOf(generation);
        if (before.RemoveReference(generation))
        {
            guard = ended;
        }
    }

    /// <summary>As <see cref="Dispose"/>, by a comparison and a write: only one thread has a lease, and nothing can pin it.</summary>
    /// <returns>The object that replaces the guard in the lease from now on.</returns>
    public EndedGuard EndLease(long generation)
    {
        EndedGuard ended = EndOf(generation);
        if (Volatile.Read(ref Record.State) == generation + 1)
        {
            Volatile.Write(ref Record.State, RentState.Next(generation));
            EndRent(ofLease: true);
        }

        return ended;
    }

    /// <summary>
    /// As <see cref="Dispose"/>, for a caller with a reference: no memory goes back now. True if this call ended it. False also if a copy
    /// of the caller's pin, disposed meanwhile, has taken that reference away.
    /// </summary>
    public bool TryDisposeReferenced(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~RentState.References) != generation || (seen & RentState.References) < 2)
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref state, (seen | RentState.Disposed) - 1, seen) == seen)
            {
                return true;
            }
        }
    }

    /// <summary>Hands the memory on. The state is idle already, and this is called once for each rent.</summary>
    /// <param name="ofLease">Whether a lease ends. It has kept the guard reachable, so no finalizer has come between.</param>
    protected abstract void EndRent(bool ofLease);

    /// <summary>Ends the trace, if there is one, of a rent that is over or never began.</summary>
    protected void EndTrace(TraceEnd end)
    {
        if (Trace is AllocationTrace trace)
        {
            Trace = null;
            trace.End(end);
        }
    }

    protected static long BeginWith(RentState record, long flagsAndReferences)
    {
        Debug.Assert(RentState.IsIdle(record.State), "The memory is rented.");
        Debug.Assert((record.State & RentState.Cached) == 0, "The memory is in no cache: the caller holds it.");
        long generation = record.State;
        Volatile.Write(ref record.State, generation | flagsAndReferences);
        return generation;
    }

    // The rent may have ended before; the trace may then be that of the next one.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private EndedGuard EndOfTraced(EndedGuard traced, long generation) =>
        traced == this || RentState.Generation(Volatile.Read(ref Record.State)) == generation ? traced : EndedGuard.Instance;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool DisposeSlow(long generation)
    {
        ref long state = ref Record.State;
        while (true)
        {
            long seen = Volatile.Read(ref state);
            if ((seen & ~RentState.References) != generation)
            {
                return IsOver(seen, generation);
            }

            bool isLast = (seen & RentState.References) == 1;
            if (Interlocked.CompareExchange(ref state, isLast ? RentState.Next(seen) : (seen | RentState.Disposed) - 1, seen) == seen)
            {
                return isLast && EndRentNow();
            }
        }
    }

    private static bool IsOver(long state, long generation) =>
        RentState.Generation(state) != generation || (state & RentState.Abandoned) != 0;

    private bool EndRentNow()
    {
        EndRent(ofLease: false);
        return true;
    }

    private Span<T> GetArraySpan<T>(byte[] array, int length)
        where T : struct
    {
        // Checks a slice here, because the array is too short only if the memory is the caller's own.
        Span<T> elements = MemoryMarshal.Cast<byte, T>(array.AsSpan());
        return (uint)length <= (uint)elements.Length ? elements.Slice(0, length) : ((WrappedGuard<T>)this).Span;
    }
}

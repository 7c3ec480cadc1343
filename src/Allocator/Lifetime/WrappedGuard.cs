namespace Allocator.Lifetime;

/// <summary>
/// Guards memory that has another owner, the caller or the buffer of which this is a view, and calls back when it is no longer used. It has
/// no finalizer: its users keep managed memory alive, and a caller's own code must not run on the finalizer thread.
/// </summary>
internal sealed class WrappedGuard<T> : LifetimeGuard
    where T : struct
{
    private readonly Memory<T> _memory;
    private Action? _release;

    public WrappedGuard(Memory<T> memory, Action? release)
        : this(memory.Length, release)
    {
        _memory = memory;

        // An empty array: the check that finds it too short leads to this guard.
        Array = [];
    }

    public WrappedGuard(nint address, long length, Action? release)
        : this(length, release) => Address = address;

    /// <summary>Guards a view of memory that another guard keeps until this one calls back.</summary>
    public static WrappedGuard<T> Over<TFrom>(LifetimeGuard owner, Action release)
        where TFrom : struct => owner switch
        {
            { Array: null } => new(owner.Address, owner.UsedBytes / Unsafe.SizeOf<T>(), release),
            WrappedGuard<TFrom> wrapped => new(CastMemory<TFrom, T>.Of(wrapped._memory), release),
            _ => new(CastMemory<byte, T>.Of(owner.Array.AsMemory(0, (int)owner.UsedBytes)), release),
        };

    private WrappedGuard(long length, Action? release)
        : base(new RentState())
    {
        EndedGuard.Prepare();
        _release = release;
        Record.UsedBytes = length * Unsafe.SizeOf<T>();
    }

    /// <summary>Gets the managed memory; empty if the memory is an address.</summary>
    public Span<T> Span => _memory.Span;

    /// <summary>Returns the array behind the memory, if there is one, with the element type that it was made with.</summary>
    public bool TryGetArray<TElement>(out ArraySegment<TElement> segment)
        where TElement : struct
    {
        segment = default;
        return Array is not null
            && (typeof(TElement) == typeof(T) ? MemoryMarshal.TryGetArray((Memory<TElement>)(object)_memory, out segment)
            : MemoryMarshal.TryGetMemoryManager<T, CastMemory<TElement, T>>(_memory, out CastMemory<TElement, T>? cast)
                && MemoryMarshal.TryGetArray<TElement>(cast!.Source, out segment));
    }

    /// <summary>Pins managed memory for as long as <paramref name="pinnable"/> is pinned.</summary>
    public MemoryHandle Pin(nint offsetInBytes, IPinnable pinnable)
    {
        NestedPin pin = new(pinnable);
        return pin.Hold(_memory.Pin(), offsetInBytes);
    }

    protected override void EndRent(bool ofLease)
    {
        Action? release = _release;
        _release = null;
        release?.Invoke();
    }
}

namespace Allocator.Lifetime;

/// <summary>
/// Guards memory that the caller owns, and calls back when it is no longer used. It has no finalizer: its users keep managed memory alive,
/// and a caller's own code must not run on the finalizer thread.
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

    private WrappedGuard(long length, Action? release)
        : base(new RentState())
    {
        EndedGuard.Prepare();
        _release = release;
        Record.UsedBytes = length * Unsafe.SizeOf<T>();
    }

    /// <summary>Gets the managed memory; empty if the memory is an address.</summary>
    public Span<T> Span => _memory.Span;

    public bool TryGetArray(out ArraySegment<T> segment)
    {
        segment = default;
        return Array is not null && MemoryMarshal.TryGetArray(_memory, out segment);
    }

    /// <summary>Pins managed memory for as long as <paramref name="pinnable"/> is pinned.</summary>
    public unsafe MemoryHandle Pin(int elementIndex, IPinnable pinnable)
    {
        MemoryHandle memory = _memory.Slice(elementIndex).Pin();
        return new MemoryHandle(memory.Pointer, default, new WrappedPin(memory, pinnable));
    }

    protected override void EndRent(bool ofLease)
    {
        Action? release = _release;
        _release = null;
        release?.Invoke();
    }

    /// <summary>Two pins in one: of the caller's memory, and of the buffer around it.</summary>
    private sealed class WrappedPin(MemoryHandle memory, IPinnable buffer) : IPinnable
    {
        // The handle made with this has pinned it already.
        public MemoryHandle Pin(int elementIndex) => buffer.Pin(elementIndex);

        public void Unpin()
        {
            try
            {
                memory.Dispose();
            }
            finally
            {
                // The other pin is the caller's code and may throw. The buffer is released all the same.
                buffer.Unpin();
            }
        }
    }
}

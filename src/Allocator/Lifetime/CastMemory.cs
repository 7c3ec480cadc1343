namespace Allocator.Lifetime;

/// <summary>Shows memory of one type as memory of another, for as long as the memory itself is valid.</summary>
internal sealed class CastMemory<TFrom, T>(Memory<TFrom> source) : MemoryManager<T>
    where TFrom : struct
    where T : struct
{
    public Memory<TFrom> Source { get; } = source;

    /// <exception cref="ArgumentException">More elements than a span can have.</exception>
    public static Memory<T> Of(Memory<TFrom> source)
    {
        if (typeof(TFrom) == typeof(T))
        {
            return (Memory<T>)(object)source;
        }

        long length = (long)source.Length * Unsafe.SizeOf<TFrom>() / Unsafe.SizeOf<T>();
        return length <= int.MaxValue
            ? new CastMemory<TFrom, T>(source).CreateMemory((int)length)
            : throw new ArgumentException(
                Invariant($"Managed memory of {length:N0} elements is longer than a span, {int.MaxValue:N0}: wrap parts of it."));
    }

    public override Span<T> GetSpan() => MemoryMarshal.Cast<TFrom, T>(Source.Span);

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        NestedPin pin = new(buffer: null);
        return pin.Hold(Source.Pin(), (nint)elementIndex * Unsafe.SizeOf<T>());
    }

    public override void Unpin() => Debug.Fail("The handle of a pin has its own object.");

    protected override void Dispose(bool disposing)
    {
    }
}

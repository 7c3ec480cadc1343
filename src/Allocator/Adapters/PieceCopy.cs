namespace Allocator.Adapters;

/// <summary>Bytes that lie in pieces, found by their position.</summary>
internal interface IPieces
{
    /// <summary>Returns the bytes from a position to the end of its piece.</summary>
    Span<byte> From(long position);
}

/// <summary>
/// Copies between memory in pieces as if all were read before anything is written: source and target may be the same memory, and overlap
/// in any way.
/// </summary>
internal static class PieceCopy
{
    private const int ChunkLength = 64 * 1024;

    [Flags]
    private enum Orders
    {
        Any = 0,
        Forwards = 1,
        Backwards = 2,
    }

    public static void Copy<TSource, TTarget>(TSource source, TTarget target, long length)
        where TSource : struct, IPieces
        where TTarget : struct, IPieces
    {
        Orders order = FindOrder(source, target, length);
        if (order is Orders.Any or Orders.Forwards)
        {
            CopyForwards(source, target, length);
            return;
        }

        // From the end on, by a copy of each part; of the whole, if no order is right for all parts.
        int most = order == Orders.Backwards ? ChunkLength : int.MaxValue;
        byte[] chunk = ArrayPool<byte>.Shared.Rent((int)Math.Min(length, most));
        for (long end = length; end > 0;)
        {
            int part = (int)Math.Min(end, chunk.Length);
            end -= part;
            for (int done = 0, count; done < part; done += count)
            {
                Span<byte> from = source.From(end + done);
                count = Math.Min(from.Length, part - done);
                from.Slice(0, count).CopyTo(chunk.AsSpan(done));
            }

            for (int done = 0, count; done < part; done += count)
            {
                Span<byte> to = target.From(end + done);
                count = Math.Min(to.Length, part - done);
                chunk.AsSpan(done, count).CopyTo(to);
            }
        }

        ArrayPool<byte>.Shared.Return(chunk);
    }

    public static unsafe void Copy<T, TSource>(TSource source, Span<T> target)
        where T : struct
        where TSource : struct, IPieces
    {
        fixed (byte* address = &Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(target)))
        {
            long length = (long)target.Length * Unsafe.SizeOf<T>();
            Copy(source, new AddressPieces(address, length), length);
        }
    }

    public static unsafe void Copy<T, TTarget>(ReadOnlySpan<T> source, TTarget target)
        where T : struct
        where TTarget : struct, IPieces
    {
        fixed (byte* address = &Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(source)))
        {
            long length = (long)source.Length * Unsafe.SizeOf<T>();
            Copy(new AddressPieces(address, length), target, length);
        }
    }

    private static void CopyForwards<TSource, TTarget>(TSource source, TTarget target, long length)
        where TSource : struct, IPieces
        where TTarget : struct, IPieces
    {
        for (long done = 0; done < length;)
        {
            Span<byte> from = source.From(done);
            Span<byte> to = target.From(done);
            int part = (int)Math.Min(Math.Min(from.Length, to.Length), length - done);
            from.Slice(0, part).CopyTo(to);
            done += part;
        }
    }

    // A byte that is byte s of the source and byte t of the target must be read before t is written: s first if it is the later one.
    private static Orders FindOrder<TSource, TTarget>(TSource source, TTarget target, long length)
        where TSource : struct, IPieces
        where TTarget : struct, IPieces
    {
        Orders orders = Orders.Any;
        if (source.From(0).Length >= length && target.From(0).Length >= length)
        {
            // One piece each: one copy is right in any case.
            return orders;
        }

        for (long s = 0; s < length;)
        {
            Span<byte> from = source.From(s);
            for (long t = 0; t < length;)
            {
                Span<byte> to = target.From(t);
                if (((ReadOnlySpan<byte>)from).Overlaps(to, out int offset) && s + offset != t)
                {
                    orders |= s + offset > t ? Orders.Backwards : Orders.Forwards;
                }

                t += to.Length;
            }

            s += from.Length;
        }

        return orders;
    }

    // Pinned by the caller.
    private readonly unsafe struct AddressPieces(byte* address, long length) : IPieces
    {
        public Span<byte> From(long position) => new(address + position, (int)Math.Min(int.MaxValue, length - position));
    }
}

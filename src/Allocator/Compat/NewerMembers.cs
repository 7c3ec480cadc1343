namespace Allocator;

/// <summary>Members of newer runtimes, for netstandard2.0. In the root namespace: callers need no conditional <c>using</c>.</summary>
internal static class NewerMembers
{
    private const int CopyLength = 81920;

    extension(System.Runtime.CompilerServices.RuntimeHelpers)
    {
        public static bool IsReferenceOrContainsReferences<T>()
            where T : struct => ReferenceCheck<T>.ContainsReferences;
    }

    extension(Environment)
    {
        public static long TickCount64 => (long)(Stopwatch.GetTimestamp() * (1000.0 / Stopwatch.Frequency));
    }

    extension(Interlocked)
    {
        public static long Or(ref long location, long bits)
        {
            while (true)
            {
                long seen = Volatile.Read(ref location);
                if (Interlocked.CompareExchange(ref location, seen | bits, seen) == seen)
                {
                    return seen;
                }
            }
        }

        public static long And(ref long location, long bits)
        {
            while (true)
            {
                long seen = Volatile.Read(ref location);
                if (Interlocked.CompareExchange(ref location, seen & bits, seen) == seen)
                {
                    return seen;
                }
            }
        }
    }

    extension(MemoryMarshal)
    {
        // Of unmanaged memory only: of managed memory there is no such thing here.
        public static unsafe Span<T> CreateSpan<T>(ref T reference, int length)
            where T : unmanaged => new(System.Runtime.CompilerServices.Unsafe.AsPointer(ref reference), length);
    }

    public static Task WriteAsync(this Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken) =>
        MemoryMarshal.TryGetArray(buffer, out ArraySegment<byte> array)
            ? stream.WriteAsync(array.Array!, array.Offset, array.Count, cancellationToken)
            : WriteCopiesAsync(stream, buffer, cancellationToken);

    public static void Write(this Stream stream, ReadOnlySpan<byte> buffer)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Math.Min(CopyLength, buffer.Length));
        try
        {
            while (!buffer.IsEmpty)
            {
                int count = Math.Min(array.Length, buffer.Length);
                buffer.Slice(0, count).CopyTo(array);
                stream.Write(array, 0, count);
                buffer = buffer.Slice(count);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    // Streams of that framework take arrays only.
    private static async Task WriteCopiesAsync(Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Math.Min(CopyLength, buffer.Length));
        try
        {
            while (!buffer.IsEmpty)
            {
                int count = Math.Min(array.Length, buffer.Length);
                buffer.Slice(0, count).CopyTo(array);
                await stream.WriteAsync(array, 0, count, cancellationToken).ConfigureAwait(false);
                buffer = buffer.Slice(count);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    private static class ReferenceCheck<T>
        where T : struct
    {
        public static readonly bool ContainsReferences = Find();

        // System.Memory knows, and tells by refusing to see such a type as bytes.
        private static bool Find()
        {
            try
            {
                MemoryMarshal.AsBytes(Span<T>.Empty);
                return false;
            }
            catch (ArgumentException)
            {
                return true;
            }
        }
    }
}

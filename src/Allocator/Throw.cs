using System.Diagnostics.CodeAnalysis;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Every exception of the library, out of line, so that the code that throws stays small.</summary>
internal static class Throw
{
    public static void IfNull([NotNull] object? value, string name)
    {
        if (value is null)
        {
            throw new ArgumentNullException(name);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void IfNegative(int value, string name)
    {
        if (value < 0)
        {
            OutOfRange(name, value, "must not be negative");
        }
    }

    public static void IfNegative(long value, string name)
    {
        if (value < 0)
        {
            OutOfRange(name, value, "must not be negative");
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void IfBelowOne(int value, string name)
    {
        if (value < 1)
        {
            OutOfRange(name, value, "must be at least 1");
        }
    }

    public static void IfNotWithin(int value, int limit, string name)
    {
        if ((uint)value > (uint)limit)
        {
            OutOfRange(name, value, Invariant($"must be from 0 to {limit}"));
        }
    }

    [DoesNotReturn]
    public static void OutOfRange(string name, object? value, string requirement) =>
        throw new ArgumentOutOfRangeException(name, value, Invariant($"{name} is {value ?? "not set"}; it {requirement}."));

    // Apart from OutOfRange, which would have callers box the row in a loop's body. It throws by itself: a method that only calls another
    // one that does is inlined into that loop, with all that makes the message.
    [DoesNotReturn]
    public static void RowOutOfRange(int y, int height) =>
        throw new ArgumentOutOfRangeException(nameof(y), y, Invariant($"y is {y}; it must be from 0 to {height - 1}."));

    [DoesNotReturn]
    public static void Disposed(string typeName) => throw DisposedException(typeName);

    /// <summary>Makes the exception for an object that was disposed, with what to do instead where it is one of ours.</summary>
    public static ObjectDisposedException DisposedException(string typeName) => typeName switch
    {
        nameof(MemoryAllocator) => new(
            typeName, "The allocator has been disposed. Outstanding memory stays valid; new requests need another allocator."),
        nameof(MemoryReservation) => new(
            typeName, "The reservation has been disposed. Outstanding memory stays valid; reserve anew, or ask the allocator itself."),
        nameof(PooledMemoryStream) => new(
            typeName, "The stream has been disposed, and its memory returned. Copy what is needed later by ToArray, before Dispose."),
        nameof(NativePixels) => new(typeName, "The pixels have been released. Use them before, or release them later."),
        nameof(System.Buffers.MemoryPool<>) => new(typeName, "The pool has been disposed. AsMemoryPool makes another one."),
        _ => new(typeName),
    };

    [DoesNotReturn]
    public static void Disposed(string typeName, LifetimeGuard guard, long memory) =>
        throw new ObjectDisposedException(typeName, $"The buffer has been disposed. {EndedGuard.Describe(guard, memory)}".TrimEnd());

    [DoesNotReturn]
    public static void ContainsReferences(Type type) =>
        throw new ArgumentException($"{type} contains references, which unmanaged memory cannot hold. Use a type without any.");

    [DoesNotReturn]
    public static void LimitExceeded(long requestedBytes, long limitBytes) =>
        throw new MemoryLimitExceededException(requestedBytes, limitBytes);

    [DoesNotReturn]
    public static void OutOfMemory(long requestedBytes, int attempts) =>
        throw new OutOfMemoryException(
            Invariant($"The operating system refused {requestedBytes:N0} bytes, {attempts} times in all; idle memory was given back in ")
                + $"between. Run fewer jobs at once, or set {nameof(MemoryAllocatorOptions)}."
                + $"{nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)}, so that requests wait.");

    [DoesNotReturn]
    public static void Corrupted(CorruptionEventArgs finding) => throw new MemoryCorruptedException(finding);

    [DoesNotReturn]
    public static void TooManyReferences() =>
        throw new InvalidOperationException("The buffer is pinned or in use 65,535 times at once, the limit. Dispose pins after use.");

    [DoesNotReturn]
    public static void TooShort(string name, long length, long required) =>
        throw new ArgumentException(Invariant($"{name} holds {length:N0} elements; {required:N0} are needed."), name);

    [DoesNotReturn]
    public static void SizeMismatch(string name, int width, int height, int expectedWidth, int expectedHeight) =>
        throw new ArgumentException(
            Invariant($"{name} is {width} x {height} pixels; {expectedWidth} x {expectedHeight} are needed."), name);

    [DoesNotReturn]
    public static void FixedLength(long length) =>
        throw new NotSupportedException(
            Invariant($"The stream is over memory of {length:N0} bytes, and cannot grow. CreateStream makes one that can."));

    [DoesNotReturn]
    public static void StreamTooLong(long position, int count) =>
        throw new IOException(
            Invariant($"{count:N0} bytes at {position:N0} end beyond {long.MaxValue:N0}, the longest stream. Set the Position lower."));

    [DoesNotReturn]
    public static void TooLongForArray(long length, int longest) =>
        throw new IOException(Invariant($"The stream has {length:N0} bytes, and an array at most {longest:N0}. ")
            + $"Use {nameof(PooledMemoryStream.AsReadOnlySequence)} or {nameof(PooledMemoryStream.WriteTo)}.");

    [DoesNotReturn]
    public static void AdvancedTooFar(int count, int left) =>
        throw new InvalidOperationException(
            Invariant($"{count} bytes are more than the {left} that are left of what GetMemory or GetSpan returned last. ")
                + "Ask for more by sizeHint; after any other call on the stream, ask anew.");

    [DoesNotReturn]
    public static void SeekBeforeBegin(long position) =>
        throw new IOException(Invariant($"The new position is {position:N0}; it must not be before the beginning of the stream."));

    [DoesNotReturn]
    public static void NotWritable(string name) =>
        throw new NotSupportedException($"{name} cannot be written to. Pass a stream whose CanWrite is true.");

    [DoesNotReturn]
    public static void NotRented(string name, int length) =>
        throw new ArgumentException(
            Invariant($"This array of {length:N0} bytes was not rented from this pool, or has been returned already. Return each array ")
                + "once, to the pool that it was rented from.", name);

    [DoesNotReturn]
    public static void BadArgument(string name, string problem) => throw new ArgumentException(problem, name);

    [DoesNotReturn]
    public static void NotContiguous(int members) =>
        throw new InvalidOperationException(
            Invariant($"The pixels lie in {members} pieces of memory, and native code takes one: allocate them with ")
                + "AllocationOptions.Contiguous, or with MemoryAllocatorOptions.PreferContiguous. The buffer is as it was.");

    [DoesNotReturn]
    public static void RowsTooLong(long rowBytes) =>
        throw new InvalidOperationException(Invariant(
            $"A row takes {rowBytes:N0} bytes; native code counts them in 32 bits, up to {int.MaxValue:N0}. The buffer is as it was."));
}

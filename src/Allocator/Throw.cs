using System.Diagnostics.CodeAnalysis;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Throws exceptions out of line, so that the methods that call it stay small enough to be inlined.</summary>
internal static class Throw
{
    public static void IfNull([NotNull] object? value, string name)
    {
        if (value is null)
        {
            throw new ArgumentNullException(name);
        }
    }

    public static void IfNegative(long value, string name)
    {
        if (value < 0)
        {
            OutOfRange(name, value, "must not be negative");
        }
    }

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

    // Pass a constant as the requirement: an interpolated text would be built even if nothing is thrown.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Unless<T>(bool isMet, string name, T value, string requirement)
    {
        if (!isMet)
        {
            OutOfRange(name, value, requirement);
        }
    }

    public static void IfOtherSize<T>(int sizeInBytes)
        where T : struct
    {
        if (Unsafe.SizeOf<T>() != sizeInBytes)
        {
            throw new ArgumentException(
                Invariant($"{typeof(T)} has {Unsafe.SizeOf<T>()} bytes; the elements have {sizeInBytes}. Use a type of that size, or AsBytes."));
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void IfDisposed(bool isDisposed, string typeName)
    {
        if (isDisposed)
        {
            Disposed(typeName);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void IfTooShort(string name, long length, long required)
    {
        if (length < required)
        {
            TooShort(name, length, required);
        }
    }

    [DoesNotReturn]
    public static void OutOfRange(string name, object? value, string requirement) =>
        throw new ArgumentOutOfRangeException(name, value, Invariant($"{name} is {value ?? "not set"}; it {requirement}."));

    // Used instead of OutOfRange, for which loops over rows would have to box the row. This method itself throws: one that only calls a
    // throwing method would be inlined into those loops, together with the code for the message.
    [DoesNotReturn]
    public static void RowOutOfRange(int y, int height) =>
        throw new ArgumentOutOfRangeException(nameof(y), y, Invariant($"y is {y}; it must be from 0 to {height - 1}."));

    [DoesNotReturn]
    public static void Disposed(string typeName) => throw DisposedException(typeName);

    /// <summary>Creates the exception for a disposed object, with advice for the types of this library.</summary>
    public static ObjectDisposedException DisposedException(string typeName) => typeName switch
    {
        nameof(MemoryAllocator) => new(
            typeName, "The allocator has been disposed. Outstanding memory stays valid; new requests need another allocator."),
        nameof(MemoryReservation) => new(
            typeName, "The reservation has been disposed. Outstanding memory stays valid; reserve again, or use the allocator itself."),
        nameof(PooledMemoryStream) => new(
            typeName, "The stream has been disposed and its memory returned. Call ToArray before Dispose to keep a copy."),
        nameof(NativePixels) => new(typeName, "The pixels have been released. Release them after their last use."),
        nameof(System.Buffers.MemoryPool<>) => new(typeName, "The pool has been disposed. AsMemoryPool creates another one."),
        _ => new(typeName),
    };

    [DoesNotReturn]
    public static void Disposed(string typeName, LifetimeGuard guard)
    {
        string known = (guard as EndedGuard)?.RentTrace is { } trace
            ? $"It took {trace}"
            : $"Within {nameof(MemoryDiagnostics)}.{nameof(MemoryDiagnostics.BeginScope)}, this message says where it was allocated.";
        throw new ObjectDisposedException(typeName, $"The buffer has been disposed. {known}");
    }

    [DoesNotReturn]
    public static void ContainsReferences(Type type) =>
        throw new ArgumentException($"{type} contains references, which unmanaged memory cannot hold. Use a type without references.");

    [DoesNotReturn]
    public static void LimitExceeded(long requestedBytes, long limitBytes) =>
        throw new MemoryLimitExceededException(requestedBytes, limitBytes);

    [DoesNotReturn]
    private static void TooShort(string name, long length, long required) =>
        throw new ArgumentException(Invariant($"{name} holds {length:N0} elements; {required:N0} are needed."), name);

    [DoesNotReturn]
    public static void TooManyReferences() =>
        throw new InvalidOperationException("The buffer is pinned or in use 65,535 times at once, the limit. Dispose pins after use.");

    [DoesNotReturn]
    public static void StreamTooLong(long position, long count) =>
        throw new IOException(
            Invariant($"{count:N0} bytes at position {position:N0} end beyond {long.MaxValue:N0}, the longest stream. ")
                + "Set a lower Position.");

    [DoesNotReturn]
    public static void AdvancedTooFar(int count, int left) =>
        throw new InvalidOperationException(
            Invariant($"Advanced by {count} bytes; {left} are left of what GetMemory or GetSpan returned last. ")
                + "Request more with sizeHint; after any other call on the stream, call them again.");
}

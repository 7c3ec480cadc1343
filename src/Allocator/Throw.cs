using System;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.IO;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Every exception of the library, out of line, so that the code that throws stays small.</summary>
internal static class Throw
{
    public static void IfNegative(int? value, string name)
    {
        if (value < 0)
        {
            OutOfRange(name, value, "must not be negative");
        }
    }

    public static void IfNull([NotNull] object? value, string name)
    {
        if (value is null)
        {
            throw new ArgumentNullException(name);
        }
    }

    [DoesNotReturn]
    public static void OutOfRange(string name, object? value, string requirement) =>
        throw new ArgumentOutOfRangeException(
            name, value, string.Format(CultureInfo.InvariantCulture, "{0} is {1}; it {2}.", name, value ?? "not set", requirement));

    // Apart from OutOfRange, which would have callers box the row in a loop's body. It throws by itself: a method that only calls another
    // one that does is inlined into that loop, with all that makes the message.
    [DoesNotReturn]
    public static void RowOutOfRange(int y, int height) =>
        throw new ArgumentOutOfRangeException(
            nameof(y), y, string.Format(CultureInfo.InvariantCulture, "y is {0}; it must be from 0 to {1}.", y, height - 1));

    [DoesNotReturn]
    public static void Disposed(string typeName) => throw new ObjectDisposedException(typeName);

    [DoesNotReturn]
    public static void Disposed(string typeName, LifetimeGuard guard, long memory) =>
        throw new ObjectDisposedException(typeName, $"The buffer has been disposed. {EndedGuard.Describe(guard, memory)}".TrimEnd());

    [DoesNotReturn]
    public static void ContainsReferences(Type type) =>
        throw new ArgumentException(
            $"{type} contains references: unmanaged memory can hold only types that the garbage collector need not look into.");

    [DoesNotReturn]
    public static void LimitExceeded(long requestedBytes, long limitBytes) =>
        throw new MemoryLimitExceededException(requestedBytes, limitBytes);

    [DoesNotReturn]
    public static void OutOfMemory(long requestedBytes, int attempts) =>
        throw new OutOfMemoryException(string.Format(
            CultureInfo.InvariantCulture,
            "The operating system refused {0:N0} bytes, {1} times in all; idle memory had been given back in between.",
            requestedBytes,
            attempts));

    [DoesNotReturn]
    public static void Corrupted(CorruptionEventArgs finding) => throw new MemoryCorruptedException(finding);

    [DoesNotReturn]
    public static void TooManyReferences() =>
        throw new InvalidOperationException("The buffer is pinned or in use more than 65,535 times at once.");

    [DoesNotReturn]
    public static void TooShort(string name, long length, long required) =>
        throw new ArgumentException(
            string.Format(CultureInfo.InvariantCulture, "{0} holds {1:N0} elements; {2:N0} are needed.", name, length, required), name);

    [DoesNotReturn]
    public static void SizeMismatch(string name, int width, int height, int expectedWidth, int expectedHeight) =>
        throw new ArgumentException(
            string.Format(
                CultureInfo.InvariantCulture,
                "{0} is {1} x {2} pixels; {3} x {4} are needed.",
                name,
                width,
                height,
                expectedWidth,
                expectedHeight),
            name);

    [DoesNotReturn]
    public static void FixedLength(long length) =>
        throw new NotSupportedException(
            string.Format(CultureInfo.InvariantCulture, "The stream is over memory of {0:N0} bytes, and cannot grow.", length));

    [DoesNotReturn]
    public static void StreamTooLong() => throw new IOException("The stream would be longer than any stream can be.");

    [DoesNotReturn]
    public static void SeekBeforeBegin() => throw new IOException("The new position would be before the beginning of the stream.");

    [DoesNotReturn]
    public static void NotWritable(string name) => throw new NotSupportedException($"{name} cannot be written to.");

    [DoesNotReturn]
    public static void BadArgument(string name, string problem) => throw new ArgumentException(problem, name);

    [DoesNotReturn]
    public static void NotContiguous() =>
        throw new InvalidOperationException(
            "The pixels lie in several pieces of memory, and native code wants one: allocate them with AllocationOptions.Contiguous, "
                + "or with MemoryAllocatorOptions.PreferContiguous. The buffer is as it was.");

    [DoesNotReturn]
    public static void RowsTooLong(long rowBytes) =>
        throw new InvalidOperationException(string.Format(CultureInfo.InvariantCulture, "A row takes {0:N0} bytes, and native code "
            + "counts them in 32 bits. The buffer is as it was.", rowBytes));
}

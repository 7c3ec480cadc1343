using System;
using System.Globalization;

namespace Allocator.Diagnostics;

/// <summary>Describes a detected out-of-bounds or use-after-return write, or an invalid free by native code.</summary>
public sealed class CorruptionEventArgs : EventArgs
{
    internal CorruptionEventArgs(
        CorruptionKind kind, long bytes, long offset, TimeSpan age, string? allocationStackTrace, string? returnStackTrace)
    {
        Kind = kind;
        Bytes = bytes;
        Offset = offset;
        Age = age;
        AllocationStackTrace = allocationStackTrace;
        ReturnStackTrace = returnStackTrace;
    }

    /// <summary>Gets how it was written to.</summary>
    public CorruptionKind Kind { get; }

    /// <summary>Gets the length of the buffer in bytes, as it was asked for.</summary>
    public long Bytes { get; }

    /// <summary>
    /// Gets where the first changed byte is, counted from the start of the buffer: negative before it, <see cref="Bytes"/> and more behind
    /// it. For <see cref="CorruptionKind.InvalidFree"/> the address.
    /// </summary>
    public long Offset { get; }

    /// <summary>Gets the time from the allocation to the discovery.</summary>
    public TimeSpan Age { get; }

    /// <summary>Gets the stack of the allocating call.</summary>
    public string? AllocationStackTrace { get; }

    /// <summary>
    /// Gets the stack of the returning call; <see langword="null"/> where the owner was collected without <c>Dispose</c>.
    /// </summary>
    public string? ReturnStackTrace { get; }

    /// <summary>Describes the finding in full, stacks included.</summary>
    public override string ToString() => Kind == CorruptionKind.InvalidFree ? DescribeInvalidFree() : string.Format(
        CultureInfo.InvariantCulture,
        "A byte was changed {0} a buffer of {1:N0} bytes{2}. It was found {3:N0} ms after the allocation.\n"
            + "Allocated at:\n{4}\nReturned at:\n{5}",
        DescribePlace(),
        Bytes,
        Kind == CorruptionKind.WriteAfterReturn ? " after its return" : string.Empty,
        Age.TotalMilliseconds,
        AllocationStackTrace?.TrimEnd() ?? "   an unknown place",
        ReturnStackTrace?.TrimEnd() ?? "   nowhere: the owner was collected without Dispose");

    private string DescribeInvalidFree() => string.Format(
        CultureInfo.InvariantCulture,
        "Native code freed 0x{0:x}, which its callbacks had not allocated or had freed already. The call was ignored.\nFreed at:\n{1}",
        Offset,
        ReturnStackTrace?.TrimEnd());

    private string DescribePlace() => Kind switch
    {
        CorruptionKind.Overrun => $"{Count(Offset - Bytes + 1)} past the end of",
        CorruptionKind.Underrun => $"{Count(-Offset)} before the start of",
        _ => FormattableString.Invariant($"at offset {Offset:N0} of"),
    };

    private static string Count(long bytes) => FormattableString.Invariant($"{bytes:N0} {(bytes == 1 ? "byte" : "bytes")}");
}

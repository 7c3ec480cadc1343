using System;
using System.Globalization;

namespace Allocator.Diagnostics;

/// <summary>Tells of memory that was written to by somebody whose memory it was not.</summary>
public sealed class CorruptionEventArgs : EventArgs
{
    internal CorruptionEventArgs(CorruptionKind kind, long bytes, long offset, TimeSpan age, string? allocationStackTrace, string? returnStackTrace)
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

    /// <summary>Gets where the first changed byte is, counted from the start of the buffer: negative before it, <see cref="Bytes"/> and more behind it.</summary>
    public long Offset { get; }

    /// <summary>Gets the time from the allocation to the discovery.</summary>
    public TimeSpan Age { get; }

    /// <summary>Gets the stack of the allocating call.</summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Gets the stack of the returning call; <see langword="null"/> where the owner was collected without <c>Dispose</c>.</summary>
    public string? ReturnStackTrace { get; }

    /// <summary>Describes the finding in full, stacks included.</summary>
    public override string ToString() => string.Format(
        CultureInfo.InvariantCulture,
        "{0} a buffer of {1:N0} bytes, {2:N0} ms after it was allocated. Allocated at:\n{3}\nReturned at:\n{4}",
        DescribeOffset(),
        Bytes,
        Age.TotalMilliseconds,
        (AllocationStackTrace ?? "an unknown place").TrimEnd(),
        (ReturnStackTrace ?? "nowhere: its owner was collected without Dispose").TrimEnd());

    private string DescribeOffset() => Kind switch
    {
        CorruptionKind.Overrun => FormattableString.Invariant($"{Offset - Bytes + 1:N0} bytes past the end, a byte was changed behind"),
        CorruptionKind.Underrun => FormattableString.Invariant($"{-Offset:N0} bytes before the start, a byte was changed ahead of"),
        _ => FormattableString.Invariant($"At offset {Offset:N0}, a byte was changed after the return of"),
    };
}

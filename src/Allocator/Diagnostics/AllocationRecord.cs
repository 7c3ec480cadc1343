using System.Text;

namespace Allocator.Diagnostics;

/// <summary>One watched buffer as its process recorded it: where it was, and the calls that allocated and returned it.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class AllocationRecord
{
    internal AllocationRecord()
    {
    }

    /// <summary>Gets what became of it.</summary>
    public AllocationRecordState State { get; internal init; }

    /// <summary>Gets where the buffer begins.</summary>
    public long Address { get; internal init; }

    /// <summary>Gets its length in bytes, as it was asked for.</summary>
    public long Bytes { get; internal init; }

    /// <summary>Gets where the mapping around it begins, inaccessible pages included.</summary>
    public long MappingAddress { get; internal init; }

    /// <summary>Gets the length of the mapping in bytes, inaccessible pages included.</summary>
    public long MappingBytes { get; internal init; }

    /// <summary>Gets when it was allocated, in UTC.</summary>
    public DateTime AllocatedAt { get; internal init; }

    /// <summary>Gets the managed thread that allocated it.</summary>
    public int AllocatingThreadId { get; internal init; }

    /// <summary>Gets the stack of the allocating call, cut to what fits.</summary>
    public string AllocationStackTrace { get; internal init; } = string.Empty;

    /// <summary>Gets when it was returned, or found abandoned, in UTC; <see langword="null"/> while it is outstanding.</summary>
    public DateTime? ReturnedAt { get; internal init; }

    /// <summary>Gets the managed thread that returned it; 0 where none did.</summary>
    public int ReturningThreadId { get; internal init; }

    /// <summary>Gets the stack of the returning call, cut to what fits; empty where it was not returned.</summary>
    public string ReturnStackTrace { get; internal init; } = string.Empty;

    /// <summary>Gets how it was found corrupted; <see langword="null"/> where it was not.</summary>
    public CorruptionKind? Corruption { get; internal init; }

    /// <summary>Gets the offset of the first changed byte from the start of the buffer, where it was found corrupted.</summary>
    public long CorruptionOffset { get; internal init; }

    /// <summary>Describes the buffer in full, stacks included.</summary>
    public override string ToString() => Invariant($"0x{Address:x} is the start of {DescribeBuffer()}");

    internal bool Contains(long address) => address >= MappingAddress && address - MappingAddress < MappingBytes;

    /// <summary>Describes where an address lies with regard to the buffer, and the buffer.</summary>
    internal string Explain(long address)
    {
        long offset = address - Address;
        string place = offset < 0 ? $"is {Count(-offset)} before the start of"
            : offset < Bytes ? Invariant($"lies at offset {offset:N0} inside")
            : $"is {Count(offset - Bytes + 1)} past the end of";
        return Invariant($"0x{address:x} {place} {DescribeBuffer()}");
    }

    internal static string Count(long bytes) => Invariant($"{bytes:N0} {(bytes == 1 ? "byte" : "bytes")}");

    private string DescribeBuffer()
    {
        StringBuilder text = new();
        text.Append(Invariant($"a buffer of {Bytes:N0} bytes that {Fate()}.")).AppendLine();
        if (Corruption is CorruptionKind kind)
        {
            text.Append(Invariant($"It was found corrupted ({kind}) at offset {CorruptionOffset:N0}.")).AppendLine();
        }

        AppendCall("Allocated", AllocatedAt, AllocatingThreadId, AllocationStackTrace);
        if (ReturnStackTrace.Length > 0)
        {
            AppendCall("Returned", ReturnedAt ?? default, ReturningThreadId, ReturnStackTrace);
        }

        return text.ToString().TrimEnd();

        void AppendCall(string what, DateTime time, int thread, string stack) =>
            text.Append(Invariant($"{what} at {time:yyyy-MM-dd HH:mm:ss.fff} UTC by thread {thread}:")).AppendLine()
                .AppendLine(stack.TrimEnd());
    }

    private string Fate()
    {
        string held = ReturnedAt is DateTime returned ? Invariant($"{(returned - AllocatedAt).TotalMilliseconds:N0} ms") : "";
        return State switch
        {
            AllocationRecordState.Rented => "is rented",
            AllocationRecordState.Returned => $"was returned {held} after its allocation",
            AllocationRecordState.Abandoned => $"was found abandoned, without Dispose, {held} after its allocation",
            _ => $"was held for {held}, and whose addresses have been given back to the system since",
        };
    }
}

/// <summary>What became of a watched buffer.</summary>
public enum AllocationRecordState
{
    /// <summary>It is outstanding.</summary>
    Rented = 1,

    /// <summary>It was returned, and its addresses are kept inaccessible.</summary>
    Returned = 2,

    /// <summary>Its owner was collected without <c>Dispose</c>; the memory is in quarantine.</summary>
    Abandoned = 3,

    /// <summary>Its addresses have been returned to the system, and other memory may lie there by now.</summary>
    Freed = 4,
}

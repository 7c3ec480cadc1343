namespace Allocator.Diagnostics;

/// <summary>Describes a detected out-of-bounds or use-after-return write, or an invalid free by native code.</summary>
public sealed class CorruptionEventArgs : EventArgs
{
    internal CorruptionEventArgs(
        CorruptionKind kind, long bytes, long offset, TimeSpan age, string? allocationStackTrace, string? returnStackTrace) =>
        (Kind, Bytes, Offset, Age, AllocationStackTrace, ReturnStackTrace) =
            (kind, bytes, offset, age, allocationStackTrace, returnStackTrace);

    /// <summary>Gets the kind of the misuse.</summary>
    public CorruptionKind Kind { get; }

    /// <summary>Gets the requested length of the buffer in bytes.</summary>
    public long Bytes { get; }

    /// <summary>
    /// Gets the offset of the first changed byte in the buffer: negative before it, <see cref="Bytes"/> and more behind it. For
    /// <see cref="CorruptionKind.InvalidFree"/> the address.
    /// </summary>
    public long Offset { get; }

    /// <summary>Gets the time from the allocation to the discovery.</summary>
    public TimeSpan Age { get; }

    /// <summary>Gets the stack of the allocating call. Null if none was kept.</summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Gets the stack of the returning call; <see langword="null"/> if the owner was never disposed.</summary>
    public string? ReturnStackTrace { get; }

    /// <summary>Describes the finding in full, stacks included.</summary>
    public override string ToString()
    {
        if (Kind == CorruptionKind.InvalidFree)
        {
            return Invariant($"Native code freed 0x{Offset:x}, which its callbacks had not allocated or had freed already. ")
                + $"The call was ignored.\nFreed at:\n{ReturnStackTrace?.TrimEnd()}";
        }

        string place = Kind switch
        {
            CorruptionKind.Overrun => $"{AllocationRecord.Count(Offset - Bytes + 1)} past the end of",
            CorruptionKind.Underrun => $"{AllocationRecord.Count(-Offset)} before the start of",
            _ => Invariant($"at offset {Offset:N0} of"),
        };
        string after = Kind == CorruptionKind.WriteAfterReturn ? " after its return" : "";
        return Invariant($"A byte was changed {place} a buffer of {Bytes:N0} bytes{after}. ")
            + Invariant($"It was found {Age.TotalMilliseconds:N0} ms after the allocation.\n")
            + $"Allocated at:\n{AllocationStackTrace?.TrimEnd() ?? "   an unknown place"}\n"
            + $"Returned at:\n{ReturnStackTrace?.TrimEnd() ?? "   nowhere: the owner was collected without Dispose"}";
    }
}

/// <summary>How memory was misused.</summary>
public enum CorruptionKind
{
    /// <summary>Past the end of a buffer, while it was rented.</summary>
    Overrun,

    /// <summary>Before the start of a buffer, while it was rented.</summary>
    Underrun,

    /// <summary>After the buffer had been returned.</summary>
    WriteAfterReturn,

    /// <summary>
    /// Nothing was written: native code freed an address that its <see cref="NativeAllocationCallbacks"/> had not allocated, or had freed
    /// already. The call was ignored.
    /// </summary>
    InvalidFree,
}

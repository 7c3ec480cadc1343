using System;

namespace Allocator.Diagnostics;

/// <summary>One watched buffer as its process recorded it: where it was, who allocated it, and who returned it.</summary>
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

    /// <summary>Gets when it was returned, or found abandoned, in UTC; <see langword="null"/> while it is out.</summary>
    public DateTime? ReturnedAt { get; internal init; }

    /// <summary>Gets the managed thread that returned it; 0 where nobody did.</summary>
    public int ReturningThreadId { get; internal init; }

    /// <summary>Gets the stack of the returning call, cut to what fits; empty where nobody returned it.</summary>
    public string ReturnStackTrace { get; internal init; } = string.Empty;

    /// <summary>Gets how it was found corrupted; <see langword="null"/> where it was not.</summary>
    public CorruptionKind? Corruption { get; internal init; }

    /// <summary>Gets the offset of the first changed byte from the start of the buffer, where it was found corrupted.</summary>
    public long CorruptionOffset { get; internal init; }

    /// <summary>Tells the buffer's story in full, stacks included.</summary>
    public override string ToString() => RecordText.Describe(this);

    internal bool Contains(long address) => address >= MappingAddress && address - MappingAddress < MappingBytes;
}

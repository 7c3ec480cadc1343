using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Guarding;

/// <summary>
/// One mapping with a buffer between guard pages, and the facts to report if something goes wrong. Not thread-safe: one holder has it
/// exclusively, the guard of a rent or the thread that took it out of the queue of returned memory.
/// </summary>
/// <param name="layout">The division of the mapping.</param>
/// <param name="clock">The allocator's clock.</param>
/// <param name="isRecorded">Whether the record file must explain an access to it that ends the process.</param>
[DebuggerDisplay("{Layout.LengthInBytes} bytes at {Address}, record {_slot}")]
internal sealed class GuardedMapping(GuardedLayout layout, Clock clock, bool isRecorded)
{
    /// <summary>The fill of returned memory: the value that Microsoft's debug heap has made known for freed memory.</summary>
    public const byte Poison = 0xDD;

    /// <summary>The fill of memory that was not asked to be clean: the same heap's value for memory not yet written to.</summary>
    public const byte Fresh = 0xCD;

    private RecordFile? _records;
    private int _slot = -1;
    private long _rentedAtMilliseconds;
    private string? _allocationStack;
    private string? _returnStack;

    public GuardedLayout Layout => layout;

    public nint MappingAddress { get; set; }

    /// <summary>Gets the address of the accessible part.</summary>
    public nint BodyAddress => (nint)(MappingAddress + layout.FrontInBytes);

    public nint Address => (nint)(BodyAddress + layout.SlackBeforeInBytes);

    /// <summary>Gets or sets whether the body, apart from the slack, is known to be zero.</summary>
    public bool IsZero { get; set; }

    /// <summary>Writes a pattern around the buffer. A write there changes it, and so is found.</summary>
    public void FillSlack()
    {
        Canary.Fill(BodyAddress, layout.SlackBeforeInBytes);
        Canary.Fill((nint)(Address + layout.LengthInBytes), layout.SlackBehindInBytes);
    }

    public void BeginRent(string stack)
    {
        _rentedAtMilliseconds = clock.NowMilliseconds;
        _allocationStack = stack;
        _records = isRecorded ? RecordFile.GetOrCreate() : null;
        _slot = _records?.Begin(MappingAddress, layout.TotalInBytes, Address, layout.LengthInBytes, stack) ?? -1;
    }

    /// <summary>Records that the memory came back; without a stack if there was no managed memory for one.</summary>
    public void EndRent(string? stack)
    {
        _returnStack = stack;
        _records?.End(_slot, AllocationRecordState.Returned, stack);
    }

    public void Abandon() => _records?.End(_slot, AllocationRecordState.Abandoned, null);

    /// <summary>Frees the record's slot for others.</summary>
    public void EndRecord()
    {
        _records?.Release(_slot);
        _slot = -1;
    }

    /// <summary>Looks for a write outside of the buffer while it was rented.</summary>
    public CorruptionEventArgs? FindBrokenSlack()
    {
        long behind = Canary.FindBroken((nint)(Address + layout.LengthInBytes), layout.SlackBehindInBytes);
        if (behind >= 0)
        {
            return Report(CorruptionKind.Overrun, layout.LengthInBytes + behind);
        }

        // The changed byte nearest to the buffer would tell more, but the pattern is searched in one direction only.
        long before = Canary.FindBroken(BodyAddress, layout.SlackBeforeInBytes);
        return before >= 0 ? Report(CorruptionKind.Underrun, before - layout.SlackBeforeInBytes) : null;
    }

    public void FillWithPoison() => NativeBytes.Fill(BodyAddress, layout.BodyInBytes, Poison);

    /// <summary>Looks for a write to the memory after its return. The memory is filled with poison, and accessible.</summary>
    public CorruptionEventArgs? FindBrokenPoison()
    {
        long offset = NativeBytes.FindOther(BodyAddress, layout.BodyInBytes, Poison);
        return offset >= 0 ? Report(CorruptionKind.WriteAfterReturn, offset - layout.SlackBeforeInBytes) : null;
    }

    // Null if there is no managed memory for a report: the record has the finding, and the return continues.
    private CorruptionEventArgs? Report(CorruptionKind kind, long offset)
    {
        _records?.MarkCorrupted(_slot, kind, offset);
        TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, clock.NowMilliseconds - _rentedAtMilliseconds));
        try
        {
            CorruptionEventArgs report = new(kind, layout.LengthInBytes, offset, age, _allocationStack, _returnStack);
            MemoryDiagnostics.ReportCorruption(report);
            return report;
        }
        catch (OutOfMemoryException)
        {
            return null;
        }
    }
}

/// <summary>
/// The division of a mapping: guard pages, the body with the buffer as near to its end as the alignment allows, and a guard page.
/// </summary>
internal readonly record struct GuardedLayout(
    long LengthInBytes, int AlignmentInBytes, long PageSizeInBytes, int OverreadToleranceInBytes)
{
    /// <summary>Gets the bytes of the guard pages in front: as many as the alignment, so that the body is aligned.</summary>
    public long FrontInBytes => Math.Max(AlignmentInBytes, PageSizeInBytes);

    /// <summary>Gets the bytes that are counted: whole pages, without pages that exist only for the tolerance.</summary>
    public long CapacityInBytes => (LengthInBytes + PageSizeInBytes - 1) & -PageSizeInBytes;

    public long BodyInBytes => (LengthInBytes + OverreadToleranceInBytes + PageSizeInBytes - 1) & -PageSizeInBytes;

    public long TotalInBytes => FrontInBytes + BodyInBytes + PageSizeInBytes;

    public long SlackBeforeInBytes => (BodyInBytes - OverreadToleranceInBytes - LengthInBytes) & -(long)AlignmentInBytes;

    public long SlackBehindInBytes => BodyInBytes - LengthInBytes - SlackBeforeInBytes;
}

using System;
using System.Globalization;
using System.Text;

namespace Allocator.Diagnostics;

/// <summary>Puts a record into words.</summary>
internal static class RecordText
{
    /// <summary>Tells where an address lies with regard to the buffer of a record, and the buffer's story.</summary>
    public static string Explain(AllocationRecord record, long address) => FormattableString.Invariant($"0x{address:x} {Place(record, address)} {Story(record)}");

    /// <summary>Tells where the buffer of a record is, and its story.</summary>
    public static string Describe(AllocationRecord record) => FormattableString.Invariant($"0x{record.Address:x} is the start of {Story(record)}");

    private static string Story(AllocationRecord record)
    {
        StringBuilder text = new();
        text.AppendFormat(CultureInfo.InvariantCulture, "a buffer of {0:N0} bytes that {1}.", record.Bytes, Fate(record)).AppendLine();
        if (record.Corruption is CorruptionKind kind)
        {
            text.AppendFormat(CultureInfo.InvariantCulture, "It was found corrupted ({0}) at offset {1:N0}.", kind, record.CorruptionOffset).AppendLine();
        }

        AppendCall(text, "Allocated", record.AllocatedAt, record.AllocatingThreadId, record.AllocationStackTrace);
        if (record.ReturnStackTrace.Length > 0)
        {
            AppendCall(text, "Returned", record.ReturnedAt ?? default, record.ReturningThreadId, record.ReturnStackTrace);
        }

        return text.ToString().TrimEnd();
    }

    private static string Place(AllocationRecord record, long address)
    {
        long offset = address - record.Address;
        return offset < 0 ? FormattableString.Invariant($"is {Count(-offset)} before the start of")
            : offset < record.Bytes ? FormattableString.Invariant($"lies at offset {offset:N0} inside")
            : FormattableString.Invariant($"is {Count(offset - record.Bytes + 1)} past the end of");
    }

    private static string Fate(AllocationRecord record)
    {
        string held = record.ReturnedAt is DateTime returned ? FormattableString.Invariant($"{(returned - record.AllocatedAt).TotalMilliseconds:N0} ms") : string.Empty;
        return record.State switch
        {
            AllocationRecordState.Rented => "is rented",
            AllocationRecordState.Returned => $"was returned {held} after its allocation",
            AllocationRecordState.Abandoned => $"was found abandoned, without Dispose, {held} after its allocation",
            _ => $"was held for {held}, and whose addresses have been given back to the system since",
        };
    }

    private static string Count(long bytes) => FormattableString.Invariant($"{bytes:N0} {(bytes == 1 ? "byte" : "bytes")}");

    private static void AppendCall(StringBuilder text, string what, DateTime time, int thread, string stack) =>
        text.AppendFormat(CultureInfo.InvariantCulture, "{0} at {1:yyyy-MM-dd HH:mm:ss.fff} UTC by thread {2}:", what, time, thread).AppendLine().AppendLine(stack.TrimEnd());
}

using System;
using System.Collections.Generic;
using System.IO;
using System.Text;

namespace Allocator.Diagnostics;

/// <summary>
/// What a process wrote down about the buffers that it watched in <see cref="SafetyMode.Sampled"/> or <see cref="SafetyMode.Guarded"/> mode: reads the file that such a process leaves behind when it dies of a fault.
/// </summary>
/// <remarks>
/// The file is named by the AppContext data <c>Allocator.Records</c> or the environment variable <c>ALLOCATOR_RECORDS</c>, in that order; without either it is <c>allocator-&lt;process id&gt;.records</c> in the folder
/// for temporary files. An existing file is never overwritten: the name then gets a number (<c>.2</c>, up to <c>.16</c>) before its extension. It takes 8 MiB and holds 1,024 buffers. A process that ends in good order deletes it,
/// unless memory was found corrupted. An instance is immutable, and safe for concurrent callers.
/// </remarks>
public sealed class AllocationRecords
{
    private AllocationRecords(int processId, DateTime processStarted, long dropped, IReadOnlyList<AllocationRecord> records)
    {
        ProcessId = processId;
        ProcessStarted = processStarted;
        DroppedRecords = dropped;
        Records = records;
    }

    /// <summary>Gets where this process writes its records; <see langword="null"/> before the first watched allocation, and where no file could be made.</summary>
    public static string? CurrentPath { get; internal set; }

    /// <summary>Gets the process that wrote the file.</summary>
    public int ProcessId { get; }

    /// <summary>Gets when that process was started, in UTC.</summary>
    public DateTime ProcessStarted { get; }

    /// <summary>Gets how many buffers found no room in the file, because as many as it holds were being watched already.</summary>
    public long DroppedRecords { get; }

    /// <summary>Gets all records, in no particular order. Those of freed buffers are there until another buffer needs their place.</summary>
    public IReadOnlyList<AllocationRecord> Records { get; }

    /// <summary>Reads a file. The process that writes it may still run.</summary>
    /// <param name="path">Where the file is.</param>
    /// <exception cref="IOException">The file cannot be read.</exception>
    /// <exception cref="InvalidDataException">It is no file of allocation records, or one of another version or of a machine with another order of bytes.</exception>
    public static AllocationRecords Open(string path)
    {
        byte[] content = ReadAll(path);
        if (content.Length < RecordLayout.HeaderBytes || BitConverter.ToInt64(content, RecordLayout.MagicAt) != RecordLayout.Magic)
        {
            throw new InvalidDataException($"{path} holds no allocation records.");
        }

        int version = BitConverter.ToInt32(content, RecordLayout.VersionAt);
        if (version != RecordLayout.Version || content.Length < RecordLayout.FileBytes)
        {
            throw new InvalidDataException($"{path} has the version {version} and {content.Length} bytes; version {RecordLayout.Version} with {RecordLayout.FileBytes} is understood.");
        }

        List<AllocationRecord> records = [];
        for (int i = 0; i < RecordLayout.SlotCount; i++)
        {
            if (TryRead(content, RecordLayout.Slot(i)) is AllocationRecord record)
            {
                records.Add(record);
            }
        }

        return new AllocationRecords(
            BitConverter.ToInt32(content, RecordLayout.ProcessIdAt),
            Time(BitConverter.ToInt64(content, RecordLayout.StartedAt)),
            BitConverter.ToInt64(content, RecordLayout.DroppedAt),
            records);
    }

    /// <summary>Tells whose memory an address is, in some lines of text.</summary>
    /// <param name="address">The address, of a fault for instance.</param>
    /// <returns>The explanation; <see langword="null"/> where the address is neither in a recorded buffer nor in the inaccessible pages around one.</returns>
    public string? Explain(long address)
    {
        AllocationRecord? best = null;
        foreach (AllocationRecord record in Records)
        {
            // Addresses come back: of several buffers that were here, the one that is not freed, or else the last.
            if (record.Contains(address) && (best is null || Rank(record).CompareTo(Rank(best)) > 0))
            {
                best = record;
            }
        }

        return best is null ? null : RecordText.Explain(best, address);
    }

    private static (bool IsMapped, DateTime AllocatedAt) Rank(AllocationRecord record) => (record.State != AllocationRecordState.Freed, record.AllocatedAt);

    private static byte[] ReadAll(string path)
    {
        // Shared in full, because the writer may have it open.
        using FileStream stream = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        using MemoryStream content = new();
        stream.CopyTo(content);
        return content.ToArray();
    }

    private static AllocationRecord? TryRead(byte[] content, int at)
    {
        int state = BitConverter.ToInt32(content, at + RecordLayout.StateAt);
        if (state is < (int)AllocationRecordState.Rented or > (int)AllocationRecordState.Freed)
        {
            return null;
        }

        int corruption = BitConverter.ToInt32(content, at + RecordLayout.CorruptionAt);
        long returnedAt = BitConverter.ToInt64(content, at + RecordLayout.ReturnedAt);
        return new AllocationRecord
        {
            State = (AllocationRecordState)state,
            Corruption = corruption == 0 ? null : (CorruptionKind)(corruption - 1),
            CorruptionOffset = corruption == 0 ? 0 : BitConverter.ToInt64(content, at + RecordLayout.CorruptionOffsetAt),
            MappingAddress = BitConverter.ToInt64(content, at + RecordLayout.MappingAddressAt),
            MappingBytes = BitConverter.ToInt64(content, at + RecordLayout.MappingBytesAt),
            Address = BitConverter.ToInt64(content, at + RecordLayout.AddressAt),
            Bytes = BitConverter.ToInt64(content, at + RecordLayout.BytesAt),
            AllocatedAt = Time(BitConverter.ToInt64(content, at + RecordLayout.AllocatedAt)),
            ReturnedAt = returnedAt == 0 ? null : Time(returnedAt),
            AllocatingThreadId = BitConverter.ToInt32(content, at + RecordLayout.AllocatingThreadAt),
            ReturningThreadId = BitConverter.ToInt32(content, at + RecordLayout.ReturningThreadAt),
            AllocationStackTrace = Text(content, at + RecordLayout.AllocationStackAt, BitConverter.ToInt32(content, at + RecordLayout.AllocationStackBytesAt)),
            ReturnStackTrace = Text(content, at + RecordLayout.ReturnStackAt, BitConverter.ToInt32(content, at + RecordLayout.ReturnStackBytesAt)),
        };
    }

    // A file that was damaged on its way must not fail in obscure ways.
    private static DateTime Time(long ticks) => new(Math.Max(0, Math.Min(ticks, DateTime.MaxValue.Ticks)), DateTimeKind.Utc);

    private static string Text(byte[] content, int at, int length) => Encoding.UTF8.GetString(content, at, Math.Max(0, Math.Min(length, RecordLayout.StackBytes)));
}

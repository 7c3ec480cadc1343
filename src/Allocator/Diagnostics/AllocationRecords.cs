using System.Text;
using static Allocator.Diagnostics.AllocationRecords;

namespace Allocator.Diagnostics;

/// <summary>
/// Reads the file in which a process in <see cref="SafetyMode.Guarded"/> mode records its buffers, and which it leaves behind if a fault
/// ends it. In <see cref="SafetyMode.Sampled"/> mode no file is written.
/// </summary>
/// <remarks>
/// The file is named by the AppContext data <c>Allocator.Records</c> or the environment variable <c>ALLOCATOR_RECORDS</c>, in that order;
/// without either it is <c>allocator-&lt;process id&gt;.records</c> in the folder for temporary files. An existing file is never
/// overwritten: the name then gets a number (<c>.2</c>, up to <c>.16</c>) before its extension. It takes 8 MiB and holds 1,024 buffers. A
/// process that ends normally deletes it, unless memory was found corrupted. An instance is immutable, and safe for concurrent callers.
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

    /// <summary>
    /// Gets the path of this process's records; <see langword="null"/> before the first record, or if no file could be created.
    /// </summary>
    public static string? CurrentPath { get; internal set; }

    /// <summary>Gets the process that wrote the file.</summary>
    public int ProcessId { get; }

    /// <summary>Gets the time when that process was started, in UTC.</summary>
    public DateTime ProcessStarted { get; }

    /// <summary>Gets how many buffers were not recorded, because the file was full of buffers that were still watched.</summary>
    public long DroppedRecords { get; }

    /// <summary>Gets all records, in no particular order. Those of freed buffers stay until another buffer needs their place.</summary>
    public IReadOnlyList<AllocationRecord> Records { get; }

    /// <summary>Reads a file. The process that writes it may still run.</summary>
    /// <param name="path">The path of the file.</param>
    /// <exception cref="ArgumentException"><paramref name="path"/> is null, empty or no path.</exception>
    /// <exception cref="IOException">The file cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">The process may not read it.</exception>
    /// <exception cref="InvalidDataException">
    /// It is not a file of allocation records, or of another version, or of a machine with another byte order.
    /// </exception>
    public static AllocationRecords Open(string path)
    {
        byte[] content = ReadAll(path);
        if (content.Length < Layout.HeaderBytes || BitConverter.ToInt64(content, Layout.MagicAt) != Layout.Magic)
        {
            throw new InvalidDataException($"{path} holds no allocation records. Pass the CurrentPath of the process that wrote them.");
        }

        int version = BitConverter.ToInt32(content, Layout.VersionAt);
        if (version != Layout.Version || content.Length < Layout.FileBytes)
        {
            throw new InvalidDataException(
                $"{path} has the version {version} and {content.Length} bytes; version "
                + $"{Layout.Version} with {Layout.FileBytes} is understood. Open it with the version of the library that wrote it.");
        }

        return new AllocationRecords(
            BitConverter.ToInt32(content, Layout.ProcessIdAt),
            Time(BitConverter.ToInt64(content, Layout.StartedAt)),
            BitConverter.ToInt64(content, Layout.DroppedAt),
            [
                .. Enumerable.Range(0, Layout.SlotCount).Select(slot => new AllocationRecord(content, Layout.Slot(slot)))
                    .Where(static record => record.State is >= AllocationRecordState.Rented and <= AllocationRecordState.Freed),
            ]);
    }

    /// <summary>Explains an address in some lines of text.</summary>
    /// <param name="address">The address, of a fault for instance.</param>
    /// <returns>The explanation; <see langword="null"/> if the address is neither in a recorded buffer nor in its guard pages.</returns>
    public string? Explain(long address) =>
        Records.Where(record => record.Contains(address)).OrderByDescending(Rank).FirstOrDefault()?.Explain(address);

    /// <summary>Describes the file in a line: its process, its records, and how many found no room.</summary>
    public override string ToString() =>
        Invariant($"{nameof(AllocationRecords)} of process {ProcessId}, started {ProcessStarted:u}: ")
            + Invariant($"{Records.Count:N0} buffers, {DroppedRecords:N0} dropped");

    // Addresses are reused. Of several buffers at one address, this prefers one that is not freed, otherwise the last.
    private static (bool IsMapped, DateTime AllocatedAt) Rank(AllocationRecord record) =>
        (record.State != AllocationRecordState.Freed, record.AllocatedAt);

    private static byte[] ReadAll(string path)
    {
        // Opened for any sharing, because the writer may still have the file open.
        using FileStream stream = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        using MemoryStream content = new();
        stream.CopyTo(content);
        return content.ToArray();
    }

    // A file that was damaged on its way must not fail in obscure ways.
    internal static DateTime Time(long ticks) => new(Math.Max(0, Math.Min(ticks, DateTime.MaxValue.Ticks)), DateTimeKind.Utc);

    /// <summary>
    /// The layout of a record file, in bytes: a header, then slots of equal size. Numbers have the machine's order of bytes, texts are
    /// UTF-8. The bytes behind a text that is shorter than its field are unspecified.
    /// </summary>
    internal static class Layout
    {
        /// <summary>"ALLOCREC", read as a number.</summary>
        public const long Magic = 0x4345_5243_4F4C_4C41;

        public const int Version = 1;

        public const int HeaderBytes = 4096;
        public const int SlotBytes = 8192;
        public const int SlotCount = 1024;
        public const int FileBytes = HeaderBytes + SlotCount * SlotBytes;

        // In the header.
        public const int MagicAt = 0;
        public const int VersionAt = 8;
        public const int ProcessIdAt = 12;
        public const int StartedAt = 16;
        public const int DroppedAt = 24;
        public const int SlotCountAt = 32;
        public const int SlotBytesAt = 36;

        // In a slot.
        public const int StateAt = 0;
        public const int CorruptionAt = 4;
        public const int CorruptionOffsetAt = 8;
        public const int MappingAddressAt = 16;
        public const int MappingBytesAt = 24;
        public const int AddressAt = 32;
        public const int BytesAt = 40;
        public const int AllocatedAt = 48;
        public const int ReturnedAt = 56;
        public const int AllocatingThreadAt = 64;
        public const int ReturningThreadAt = 68;
        public const int AllocationStackBytesAt = 72;
        public const int ReturnStackBytesAt = 76;
        public const int AllocationStackAt = 80;
        public const int StackBytes = (SlotBytes - AllocationStackAt) / 2;
        public const int ReturnStackAt = AllocationStackAt + StackBytes;

        public static int Slot(int index) => HeaderBytes + index * SlotBytes;
    }
}

/// <summary>One watched buffer as its process recorded it: its place, and the calls that allocated and returned it.</summary>
public sealed class AllocationRecord
{
    private readonly byte[] _file;
    private readonly int _slot;

    internal AllocationRecord(byte[] file, int slot)
    {
        _file = file;
        _slot = slot;
    }

    /// <summary>Gets the state of the buffer.</summary>
    public AllocationRecordState State => (AllocationRecordState)Int32(Layout.StateAt);

    /// <summary>Gets the address of the buffer.</summary>
    public long Address => Int64(Layout.AddressAt);

    /// <summary>Gets its requested length in bytes.</summary>
    public long Bytes => Int64(Layout.BytesAt);

    /// <summary>Gets the address of the mapping around it, inaccessible pages included.</summary>
    public long MappingAddress => Int64(Layout.MappingAddressAt);

    /// <summary>Gets the length of the mapping in bytes, inaccessible pages included.</summary>
    public long MappingBytes => Int64(Layout.MappingBytesAt);

    /// <summary>Gets when it was allocated, in UTC.</summary>
    public DateTime AllocatedAt => Time(Int64(Layout.AllocatedAt));

    /// <summary>Gets the managed thread that allocated it.</summary>
    public int AllocatingThreadId => Int32(Layout.AllocatingThreadAt);

    /// <summary>Gets the stack of the allocating call, cut to what fits.</summary>
    public string AllocationStackTrace => Text(Layout.AllocationStackAt, Layout.AllocationStackBytesAt);

    /// <summary>Gets when it was returned, or found abandoned, in UTC; <see langword="null"/> while it is outstanding.</summary>
    public DateTime? ReturnedAt => Int64(Layout.ReturnedAt) is var ticks and not 0 ? Time(ticks) : null;

    /// <summary>Gets the managed thread that returned it; 0 if none did.</summary>
    public int ReturningThreadId => Int32(Layout.ReturningThreadAt);

    /// <summary>Gets the stack of the returning call, cut to what fits; empty if it was not returned.</summary>
    public string ReturnStackTrace => Text(Layout.ReturnStackAt, Layout.ReturnStackBytesAt);

    /// <summary>Gets how it was corrupted; <see langword="null"/> if no corruption was found.</summary>
    public CorruptionKind? Corruption => Int32(Layout.CorruptionAt) is var kind and not 0 ? (CorruptionKind)(kind - 1) : null;

    /// <summary>Gets the offset of the first changed byte from the start of the buffer, if it was found corrupted.</summary>
    public long CorruptionOffset => Corruption is null ? 0 : Int64(Layout.CorruptionOffsetAt);

    /// <summary>Describes the buffer in full, stacks included.</summary>
    public override string ToString() => Invariant($"0x{Address:x} is the start of {DescribeBuffer()}");

    internal bool Contains(long address) => address >= MappingAddress && address - MappingAddress < MappingBytes;

    /// <summary>Describes the position of an address relative to the buffer, and the buffer.</summary>
    internal string Explain(long address)
    {
        long offset = address - Address;
        string place = offset < 0 ? $"is {Count(-offset)} before the start of"
            : offset < Bytes ? Invariant($"lies at offset {offset:N0} inside")
            : $"is {Count(offset - Bytes + 1)} past the end of";
        return Invariant($"0x{address:x} {place} {DescribeBuffer()}");
    }

    private int Int32(int field) => BitConverter.ToInt32(_file, _slot + field);

    private long Int64(int field) => BitConverter.ToInt64(_file, _slot + field);

    private string Text(int start, int length) =>
        Encoding.UTF8.GetString(_file, _slot + start, Math.Max(0, Math.Min(Int32(length), Layout.StackBytes)));

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

/// <summary>The state of a watched buffer.</summary>
public enum AllocationRecordState
{
    /// <summary>It is outstanding.</summary>
    Rented = 1,

    /// <summary>It was returned, and its addresses are kept inaccessible.</summary>
    Returned = 2,

    /// <summary>Its owner was collected without <c>Dispose</c>; the memory is in quarantine.</summary>
    Abandoned = 3,

    /// <summary>Its addresses have been returned to the system, and other memory may be there by now.</summary>
    Freed = 4,
}

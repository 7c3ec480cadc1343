namespace Allocator.Diagnostics;

/// <summary>
/// The layout of a record file, in bytes: a header, then slots of equal size. Numbers are those of the machine, texts UTF-8. What is shorter than its field is followed by anything.
/// </summary>
internal static class RecordLayout
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

    /// <summary>Gives where a slot begins.</summary>
    public static int Slot(int index) => HeaderBytes + index * SlotBytes;
}

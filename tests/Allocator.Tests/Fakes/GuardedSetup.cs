namespace Allocator.Tests.Fakes;

/// <summary>A <see cref="TestSetup"/> that watches every allocation, whatever the environment of the tests says.</summary>
internal static unsafe class GuardedSetup
{
    public const int Page = 4096;

    // What tests corrupt would otherwise be kept as evidence.
    static GuardedSetup() => AppDomain.CurrentDomain.ProcessExit += static (_, _) =>
    {
        try
        {
            File.Delete(AllocationRecords.CurrentPath ?? string.Empty);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            // Windows deletes no file that is mapped; and there may be none.
        }
    };

    public static TestSetup Create(SafetyMode mode, int maximumBlocks = 16, AbandonedMemory abandoned = AbandonedMemory.Quarantine) =>
        new(maximumBlocks, new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = 1, Abandoned = abandoned });

    public static nint AddressOf(IMemoryOwner<byte> owner) => AddressOf(owner.Memory.Span);

    public static nint AddressOf(Span<byte> span) => (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(span));

    /// <summary>Changes one byte, whosever it is.</summary>
    public static void Change(nint address) => *(byte*)address ^= 0x40;

    /// <summary>Changes one byte of memory that has been returned, as a device would that knows no page protection.</summary>
    public static void ChangeReturned(TestSetup setup, nint address)
    {
        nint page = address & -Page;
        setup.Source.TryUnprotect(page, Page);
        Change(address);
        setup.Source.TryProtect(page, Page);
    }
}

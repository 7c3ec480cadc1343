using Allocator;
using Allocator.Diagnostics;

namespace PlatformSmoke.Linux;

/// <summary>The record file explains an address as the kernel and debuggers write it: without a sign.</summary>
internal static unsafe class RecordedAddress
{
    private const int Length = 3_000_000;

    public static void Run(Checks checks)
    {
        checks.Run("records: an address behind a buffer is explained", IsExplained);
        if (IntPtr.Size == sizeof(int))
        {
            checks.Run("records: also in the upper half of 32 bits", static () => IsExplainedInHalf(upper: true));
            checks.Run("records: and in the lower half", static () => IsExplainedInHalf(upper: false));
        }
    }

    // Mappings go downwards, or upwards: until one is where it should be, what is in the way is held.
    private static void IsExplainedInHalf(bool upper)
    {
        using MemoryAllocator eater = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        Stack<IDisposable> held = new();
        try
        {
            while (IsUpper(eater) != upper)
            {
                held.Push(eater.AllocateGroup<byte>(64 << 20, 1, AllocationOptions.Contiguous));
            }

            IsExplained();
        }
        finally
        {
            while (held.Count > 0)
            {
                held.Pop().Dispose();
            }
        }
    }

    private static bool IsUpper(MemoryAllocator allocator)
    {
        using IMemoryOwner<byte> probe = allocator.Allocate<byte>(64 << 20);
        using MemoryHandle pin = probe.Memory.Pin();
        return (nuint)pin.Pointer > int.MaxValue;
    }

    private static void IsExplained()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(Length);
        using MemoryHandle pin = owner.Memory.Pin();
        long start = (long)(ulong)pin.Pointer;
        AllocationRecords records = AllocationRecords.Open(AllocationRecords.CurrentPath!);
        Console.WriteLine($"   a buffer at 0x{start:x}");
        Checks.That(
            records.Records.Any(record => record.Address == start && record.State == AllocationRecordState.Rented),
            "a record at the buffer's address");
        Checks.That(records.Explain(start + Length + 10) is not null, "an explanation of an address behind it");
    }
}

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Allocator;
using Allocator.Diagnostics;

namespace ContractSuite;

/// <summary>The safety modes on real pages. A fault ends the process, and is not tried here.</summary>
internal static class SafetyContract
{
    public static void BuffersOfEveryLength(SafetyMode mode)
    {
        using MemoryAllocator allocator = Create(mode);
        for (int length = 1; length < 10_000_000; length = length * 3 + 1)
        {
            using IMemoryOwner<byte> clean = allocator.Allocate<byte>(length, AllocationOptions.Clean);
            Checks.That(Pattern.IsAll<byte>(clean.Memory.Span, 0), "zero bytes");
            using IMemoryOwner<byte> aligned = allocator.AllocateAligned<byte>(length, 1 << 20);
            aligned.Memory.Span.Fill(1);
            using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(2L * length);
            group.Fill(2);
        }

        allocator.ReleaseRetainedResources();
        Checks.That(allocator.GetStatistics() is { CommittedBytes: 0, QuarantinedBytes: 0, OutstandingAllocations: 0 }, "nothing left");
    }

    public static void OverrunIsFoundAndRecorded(SafetyMode mode, bool hasRecordFile)
    {
        using MemoryAllocator allocator = Create(mode);
        MemoryCorruptedException? exception = null;
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(1000);
        Unsafe.Add(ref MemoryMarshal.GetReference(owner.Memory.Span), 1000) ^= 1;
        try
        {
            owner.Dispose();
        }
        catch (MemoryCorruptedException e)
        {
            exception = e;
        }

        Checks.That(exception is not null == (mode == SafetyMode.Guarded), "an exception in Guarded mode");
        if (mode == SafetyMode.Sampled)
        {
            return;
        }

        Checks.That(AllocationRecords.CurrentPath is not null == hasRecordFile, "a record file if one can be made");
        if (!hasRecordFile)
        {
            return;
        }

        AllocationRecords records = AllocationRecords.Open(AllocationRecords.CurrentPath!);
        Checks.That(
            records.Records.Any(static record => record is { Corruption: CorruptionKind.Overrun, CorruptionOffset: 1000, Bytes: 1000 }),
            "a record of it");
    }

    private static MemoryAllocator Create(SafetyMode mode) =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = 1 });
}

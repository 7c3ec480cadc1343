using System.Collections.Concurrent;

namespace Allocator.Tests;

/// <summary>The functions that native codecs allocate by, called as native code calls them: by address.</summary>
public unsafe class NativeAllocationCallbacksTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(100_000)]
    [InlineData(1 << 20)]
    [InlineData(5_000_000)]
    [InlineData(40_000_000)]
    public void Allocate_AnySize_IsAlignedWritableAndCounted(int size)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();

        nint address = Allocate(callbacks, (nuint)size);
        Assert.NotEqual(0, address);
        Assert.Equal(0, address % 64);
        new Span<byte>((void*)address, size).Fill(0xAB);

        Assert.Equal(Math.Max(size, 1), callbacks.OutstandingBytes);
        Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        Assert.True(allocator.GetStatistics().RentedBytes >= size, "What is allocated counts as rented.");
        Free(callbacks, address);
        Assert.Equal(0, callbacks.OutstandingBytes);
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void AllocateArray_ProductThatWraps_IsRefused()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
        delegate* unmanaged[Cdecl]<nint, uint, uint, nint> allocate =
            (delegate* unmanaged[Cdecl]<nint, uint, uint, nint>)callbacks.AllocateArray;

        Assert.Equal(0, allocate(callbacks.Context, 0x10000, 0x10000));
        nint address = allocate(callbacks.Context, 300, 1000);

        Assert.Equal(300_000, callbacks.OutstandingBytes);
        Free(callbacks, address);
    }

    [Fact]
    public void Allocate_MoreThanTheLimit_IsNullAndLeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 8 });
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();

        Assert.Equal(0, Allocate(callbacks, 9 * 1024 * 1024));
        Assert.Equal(0, Allocate(callbacks, (nuint)int.MaxValue + 1));
        Assert.Equal(0, Allocate(callbacks, nuint.MaxValue));
        Assert.Equal(0, callbacks.OutstandingBytes);
    }

    [Fact]
    public void Allocate_FromAReservation_IsChargedToIt()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        Assert.True(allocator.TryReserve(32 << 20, out MemoryReservation? reservation));
        using MemoryReservation job = reservation;
        using NativeAllocationCallbacks callbacks = job.CreateNativeCallbacks();

        nint address = Allocate(callbacks, 3_000_000);

        Assert.True(job.PeakUsedBytes >= 3_000_000, "The reservation has it.");
        Free(callbacks, address);
    }

    [Theory]
    [InlineData(1000, 5000)]
    [InlineData(1000, 5_000_000)]
    [InlineData(5_000_000, 1000)]
    [InlineData(5_000_000, 4_999_999)]
    [InlineData(5_000_000, 9_000_000)]
    public void Reallocate_AnotherSize_KeepsTheContents(int size, int newSize)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
        byte[] content = new byte[Math.Min(size, newSize)];
        new Random(1).NextBytes(content);
        nint address = Reallocate(callbacks, 0, (nuint)size);
        content.CopyTo(new Span<byte>((void*)address, content.Length));

        nint moved = Reallocate(callbacks, address, (nuint)newSize);

        Assert.Equal(content, new Span<byte>((void*)moved, content.Length).ToArray());
        Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        Assert.InRange(callbacks.OutstandingBytes, newSize, 2 * newSize);
        Assert.Equal(0, Reallocate(callbacks, moved, 0));
        Assert.Equal(0, callbacks.OutstandingBytes);
    }

    [Fact]
    public void Reallocate_Refused_LeavesTheOldMemory()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 8 });
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
        nint address = Allocate(callbacks, 5_000_000);
        *(int*)address = 42;

        Assert.Equal(0, Reallocate(callbacks, address, 9 * 1024 * 1024));

        Assert.Equal(42, *(int*)address);
        Assert.Equal(5_000_000, callbacks.OutstandingBytes);
        Free(callbacks, address);
    }

    [Fact]
    public void Free_Null_DoesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();

        Free(callbacks, 0);

        Assert.Equal(0, callbacks.OutstandingBytes);
    }

    [Theory]
    [InlineData("100")]
    [InlineData("3000000")]
    public void Free_TwiceOrForeign_IsReportedAndIgnored(string size) => RemoteExecutor.Invoke(
        static size =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
            using NativeAllocationCallbacks others = allocator.CreateNativeCallbacks();
            BlockingCollection<CorruptionEventArgs> found = [];
            MemoryDiagnostics.CorruptionFound += (_, report) => found.Add(report);
            nint address = Allocate(callbacks, nuint.Parse(size));

            // Of other callbacks; in the middle; after it was freed; and moved after that.
            Free(others, address);
            Free(callbacks, address + 64);
            Assert.Equal(long.Parse(size), callbacks.OutstandingBytes);
            Free(callbacks, address);
            Free(callbacks, address);
            Assert.Equal(0, Reallocate(callbacks, address, 10));

            long[] reported = [.. Enumerable.Range(0, 4).Select(_ => Take(found)).Select(static report =>
            {
                Assert.Equal(CorruptionKind.InvalidFree, report.Kind);
                Assert.Contains($"0x{report.Offset:x}", report.ToString());
                return report.Offset;
            }).Order()];
            Assert.Equal(new long[] { address, address, address, address + 64 }, reported);
            Assert.Equal(0, callbacks.OutstandingBytes);
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        },
        size).Dispose();

    [Fact]
    public void Dispose_MemoryOutstanding_RefusesMoreAndFreesTheRest()
    {
        MemoryAllocator allocator = MemoryAllocator.Create();
        NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
        nint first = Allocate(callbacks, 3_000_000);
        nint second = Allocate(callbacks, 100);

        callbacks.Dispose();
        callbacks.Dispose();
        allocator.Dispose();

        Assert.Equal(0, Allocate(callbacks, 100));
        Assert.Equal(0, Reallocate(callbacks, first, 6_000_000));
        *(int*)first = 1;
        Free(callbacks, first);
        Assert.Equal(100, callbacks.OutstandingBytes);
        Free(callbacks, second);
        Assert.Equal(0, callbacks.OutstandingBytes);
        Assert.Equal("NativeAllocationCallbacks, 0 bytes outstanding, disposed", callbacks.ToString());
    }

    [Fact]
    public void Dispose_WhileThreadsAllocate_LeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        for (int round = 0; round < 50; round++)
        {
            NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
            using Barrier start = new(4);
            Thread[] threads = [.. Enumerable.Range(0, 3).Select(_ => new Thread(() =>
            {
                start.SignalAndWait(s_patience);
                for (int i = 0; i < 100 && Allocate(callbacks, (nuint)(100 + i)) is nint address and not 0; i++)
                {
                    nint moved = Reallocate(callbacks, address, 1000);
                    Free(callbacks, moved != 0 ? moved : address);
                }
            }))];
            Array.ForEach(threads, static thread => thread.Start());
            start.SignalAndWait(s_patience);
            callbacks.Dispose();
            Assert.All(threads, static thread => Assert.True(thread.Join(s_patience), "A thread hangs."));

            Assert.Equal(0, callbacks.OutstandingBytes);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Free_OfACorruptedGuardedBuffer_ReturnsAndIsReported() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        using NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks();
        BlockingCollection<CorruptionEventArgs> found = [];
        MemoryDiagnostics.CorruptionFound += (_, report) => found.Add(report);
        nint address = Allocate(callbacks, 100);

        // Within the slack that alignment leaves before the guard page.
        *(byte*)(address + 100) = 1;
        Free(callbacks, address);

        Assert.Equal(CorruptionKind.Overrun, Take(found).Kind);
        Assert.Equal(0, callbacks.OutstandingBytes);
    }).Dispose();

    [Fact]
    public void CreateNativeCallbacks_DisposedAllocator_Throws()
    {
        MemoryAllocator allocator = MemoryAllocator.Create();
        allocator.Dispose();

        Assert.Throws<ObjectDisposedException>(allocator.CreateNativeCallbacks);
    }

    private static CorruptionEventArgs Take(BlockingCollection<CorruptionEventArgs> found)
    {
        Assert.True(found.TryTake(out CorruptionEventArgs? report, s_patience), "Nothing is reported.");
        return report;
    }

    private static nint Allocate(NativeAllocationCallbacks callbacks, nuint size) =>
        ((delegate* unmanaged[Cdecl]<nint, nuint, nint>)callbacks.Allocate)(callbacks.Context, size);

    private static nint Reallocate(NativeAllocationCallbacks callbacks, nint address, nuint size) =>
        ((delegate* unmanaged[Cdecl]<nint, nint, nuint, nint>)callbacks.Reallocate)(callbacks.Context, address, size);

    private static void Free(NativeAllocationCallbacks callbacks, nint address) =>
        ((delegate* unmanaged[Cdecl]<nint, nint, void>)callbacks.Free)(callbacks.Context, address);
}

using System.Collections.Concurrent;

namespace Allocator.Tests;

public class NativeHeapTests
{
    private const int Megabyte = 1 << 20;

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(int.MaxValue)]
    public void TrySetMapThreshold_OutOfRange_NamesValueAndLimit(int bytes)
    {
        ArgumentOutOfRangeException exception = Assert.Throws<ArgumentOutOfRangeException>(() => NativeHeap.TrySetMapThreshold(bytes));

        Assert.Equal("bytes", exception.ParamName);
        Assert.Contains(bytes.ToString(), exception.Message);
    }

    // A small allocation behind each large one keeps the heap's end where it is, so that free itself returns nothing.
    [SkippableFact]
    public void TryTrim_AfterManyFrees_LowersTheResidentSet()
    {
        Skip.IfNot(LibC.IsMallocOfGlibc(), "Only glibc has malloc_trim.");
        RemoteExecutor.Invoke(static () =>
        {
            List<nint> kept = [];
            long before = ResidentSet.Bytes;
            AllocateAndFree(kept, count: 2000, bytes: 100_000);
            long freed = ResidentSet.Bytes - before;

            Assert.True(NativeHeap.TryTrim());

            long trimmed = ResidentSet.Bytes - before;
            Assert.True(freed > 150 * Megabyte, $"Only {freed / Megabyte} MB were kept: nothing was tried.");
            Assert.True(trimmed < freed / 4, $"{trimmed / Megabyte} of {freed / Megabyte} MB are still resident.");
        }).Dispose();
    }

    // The background thread trims too. While it unwinds an exception over musl, a process that exits ends with SIGABRT.
    [Fact]
    public void TryTrim_AnyCLibrary_ThrowsNothingInternally()
    {
        RemoteExecutor.Invoke(static () =>
        {
            ConcurrentQueue<string> thrown = [];
            AppDomain.CurrentDomain.FirstChanceException += (_, args) => thrown.Enqueue(args.Exception.ToString());
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 8 });
            allocator.Allocate<byte>(4 * Megabyte).Dispose();
            allocator.ReleaseRetainedResources();
            bool hasTrimmed = NativeHeap.TryTrim();

            Assert.Equal(LibC.IsMallocOfGlibc(), hasTrimmed);
            Assert.Empty(thrown);
        }).Dispose();
    }

    [SkippableFact]
    public void TrySetMapThreshold_BeforeAnyAllocation_ReturnsWhatIsFreedAtOnce()
    {
        Skip.IfNot(LibC.IsMallocOfGlibc(), "Only glibc has mallopt.");
        RemoteExecutor.Invoke(static () =>
        {
            Assert.True(NativeHeap.TrySetMapThreshold(64 * 1024));
            List<nint> kept = [];
            long before = ResidentSet.Bytes;

            AllocateAndFree(kept, count: 2000, bytes: 100_000);

            long freed = ResidentSet.Bytes - before;
            Assert.True(freed < 50 * Megabyte, $"{freed / Megabyte} MB are still resident.");
        }).Dispose();
    }

    private static unsafe void AllocateAndFree(List<nint> kept, int count, int bytes)
    {
        List<nint> large = [];
        for (int i = 0; i < count; i++)
        {
            nint address = Marshal.AllocHGlobal(bytes);
            new Span<byte>((void*)address, bytes).Fill(1);
            large.Add(address);
            kept.Add(Marshal.AllocHGlobal(64));
        }

        large.ForEach(Marshal.FreeHGlobal);
    }
}

using System.Diagnostics;
using System.Globalization;

namespace Allocator.Tests.Allocators;

/// <summary>What an allocator costs does not depend on how many there are, or have been.</summary>
[Collection(nameof(Alone))]
public class ManyAllocatorsTests
{
    private const int Few = 1_000;
    private const int Many = 10_000;

    [Fact]
    public void Create_ManyAtOnce_TakesTimeInProportion() => RemoteExecutor.Invoke(static () => AssertLinear(AllAtOnce)).Dispose();

    [SkippableFact]
    public void Create_NotTheFirst_ReadsNoFile()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Linux counts a process's reads.");
        RemoteExecutor.Invoke(static () =>
        {
            MemoryAllocator.Create().Dispose();
            SystemReads();
            long before = SystemReads();
            for (int i = 0; i < Few; i++)
            {
                MemoryAllocator.Create().Dispose();
            }

            Assert.InRange(SystemReads() - before, 0, Few / 10);
        }).Dispose();
    }

    // The first touch of 4 MiB takes 35 µs with huge pages and hundreds of µs without: an allocator that is not used must cost less.
    [SkippableFact]
    public void Create_NotTheFirst_TakesLessThanFirstTouchOfItsFirstBlock()
    {
        // Debug builds assert in each section of a lock.
        OptimizedBuild.SkipOtherwise();
        RemoteExecutor.Invoke(static () =>
        {
            List<double> created = [];
            List<double> used = [];
            for (int i = 0; i < 200; i++)
            {
                long begun = Stopwatch.GetTimestamp();
                MemoryAllocator.Create().Dispose();
                created.Add(Stopwatch.GetElapsedTime(begun).TotalMicroseconds);
                using MemoryAllocator allocator = MemoryAllocator.Create();
                begun = Stopwatch.GetTimestamp();
                allocator.Rent<byte>(4 << 20, AllocationOptions.Clean).Dispose();
                used.Add(Stopwatch.GetElapsedTime(begun).TotalMicroseconds);
            }

            (double create, double use) = (created.Order().ElementAt(100), used.Order().ElementAt(100));
            Assert.True(create < use, $"Create and Dispose: {create:0.0} µs; the first block: {use:0.0} µs.");
        }).Dispose();
    }

    [Fact]
    public void Create_ManyAndDisposed_LeaveNothingBehind() => RemoteExecutor.Invoke(static () =>
    {
        OneAfterAnother(100);
        Dropped(100);
        long before = HeapBytes();
        OneAfterAnother(Many);
        Dropped(Many);

        // A thread's table keeps its length: a reference for each that lived at once.
        Assert.InRange(HeapBytes() - before, long.MinValue, 64 * Many);
    }).Dispose();

    // The same work, in one run and in four, with what the collector has to do for it. Both live in memory: of a thousand allocators, most
    // lie in the processors' caches and end before a collection looks at them.
    private static void AssertLinear(Action<int> use)
    {
        use(Many);
        List<double> ratios = [];
        for (int i = 0; i < 3; i++)
        {
            double few = TimeOf(use, Many, 4);
            double many = TimeOf(use, 4 * Many, 1);
            ratios.Add(many / few);
        }

        string all = string.Join(" ", ratios.Select(static ratio => $"{ratio:0.0}"));
        Assert.True(ratios.Order().ElementAt(1) < 2, $"The time of {4 * Many} allocators to that of four times {Many}: {all}");
    }

    // Processor time of all threads: other processes do not count.
    private static double TimeOf(Action<int> use, int count, int runs)
    {
        HeapBytes();
        using Process process = Process.GetCurrentProcess();
        TimeSpan begun = process.TotalProcessorTime;
        for (int run = 0; run < runs; run++)
        {
            use(count);
            QueuedWork.Collect();
        }

        process.Refresh();
        return (process.TotalProcessorTime - begun).TotalMilliseconds;
    }

    private static long SystemReads() =>
        long.Parse(
            File.ReadLines("/proc/self/io").First(static line => line.StartsWith("syscr:", StringComparison.Ordinal)).Split(' ')[1],
            CultureInfo.InvariantCulture);

    private static long HeapBytes()
    {
        for (int i = 0; i < 5; i++)
        {
            QueuedWork.Collect();
            QueuedWork.Wait();
        }

        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private static MemoryAllocator Create() => MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 4 });

    private static void Use(MemoryAllocator allocator)
    {
        allocator.Rent<byte>(1000).Dispose();
        allocator.Rent<byte>(2 << 20).Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void OneAfterAnother(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryAllocator allocator = Create();
            Use(allocator);
            Assert.Equal(2, allocator.GetStatistics().Rents);
            Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AllAtOnce(int count)
    {
        MemoryAllocator[] all = new MemoryAllocator[count];
        for (int i = 0; i < count; i++)
        {
            all[i] = Create();
        }

        foreach (MemoryAllocator allocator in all)
        {
            // No block: ten thousand of them are more than a machine has.
            allocator.Rent<byte>(1000).Dispose();
            Assert.Equal(1, allocator.GetStatistics().Rents);
        }

        Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);
        foreach (MemoryAllocator allocator in all)
        {
            allocator.Dispose();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Dropped(int count)
    {
        for (int i = 0; i < count; i++)
        {
            MemoryAllocator allocator = Create();
            allocator.Rent<byte>(1000).Dispose();
        }
    }
}

namespace Allocator.Tests.Diagnostics;

public class MemoryDiagnosticsTests
{
    [Fact]
    public void OutstandingAllocations_LiveMemory_IsCountedAndIsNoLeak() => RemoteExecutor.Invoke(static () =>
    {
        MemoryAllocator first = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16 });
        MemoryAllocator second = MemoryAllocator.Create();
        Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);

        IDisposable[] all =
        [
            first.Allocate<byte>(0), first.Allocate<byte>(100), first.Allocate<byte>(2 << 20), first.Allocate<byte>(9 << 20),
            first.Allocate<byte>(90 << 20),
            first.AllocateGroup<byte>(40 << 20), second.AllocatePixels<int>(3000, 3000), second.AllocateAligned<byte>(10, 4096),
            MemoryAllocator.Default.Allocate<byte>(3 << 20),
        ];
        Assert.Equal(all.Length, MemoryDiagnostics.OutstandingAllocations);
        QueuedWork.Collect();
        Assert.Equal(all.Length, MemoryDiagnostics.OutstandingAllocations);
        Assert.Equal(0, MemoryDiagnostics.AbandonedAllocations);

        for (int i = 0; i < all.Length; i++)
        {
            all[i].Dispose();
            all[i].Dispose();
            Assert.Equal(all.Length - 1 - i, MemoryDiagnostics.OutstandingAllocations);
        }
    }).Dispose();

    [Fact]
    public void OutstandingAllocations_ThreadsThatEnded_KeepTheirCounts() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        IMemoryOwner<byte>?[] owners = new IMemoryOwner<byte>?[200];
        for (int i = 0; i < owners.Length; i++)
        {
            int mine = i;
            Thread thread = new(() => owners[mine] = allocator.Allocate<byte>(500));
            thread.Start();
            thread.Join();
            if (i % 50 == 0)
            {
                QueuedWork.Collect();
            }
        }

        Assert.Equal(
            (200L, 200L, 200L * 512),
            (allocator.GetStatistics().OutstandingAllocations, allocator.GetStatistics().Rents, allocator.GetStatistics().RentedBytes));
        foreach (IMemoryOwner<byte>? owner in owners)
        {
            owner!.Dispose();
        }

        Assert.Equal(
            (0L, 200L, 0L),
            (allocator.GetStatistics().OutstandingAllocations, allocator.GetStatistics().Rents, allocator.GetStatistics().RentedBytes));
    }).Dispose();

    [Fact]
    public void GetStatistics_RentedAndReturnedOnDifferentThreads_IsNeverNegative() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using System.Collections.Concurrent.BlockingCollection<IMemoryOwner<byte>> queue = new(64);
        Thread producer = new(() =>
        {
            for (int i = 0; i < 60_000 * Races.Rounds; i++)
            {
                queue.Add(allocator.Allocate<byte>(500));
            }

            queue.CompleteAdding();
        });
        Thread consumer = new(() =>
        {
            foreach (IMemoryOwner<byte> owner in queue.GetConsumingEnumerable())
            {
                owner.Dispose();
            }
        });
        producer.Start();
        consumer.Start();
        long lowest = 0;
        while (consumer.IsAlive)
        {
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            lowest = Math.Min(lowest, Math.Min(statistics.OutstandingAllocations, statistics.RentedBytes));
        }

        Assert.Equal(0, lowest);
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }).Dispose();

    [Fact]
    public void Default_OtherAllocatorsCreated_IsNotCreated() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator own = MemoryAllocator.Create();
        own.Allocate<byte>(3 << 20).Dispose();
        Assert.Equal(1, CountSources());
        MemoryAllocator.Default.Allocate<byte>(1).Dispose();
        Assert.Equal(2, CountSources());

        static int CountSources() => ((System.Collections.ICollection)typeof(MemoryAllocator).Assembly
            .GetType("Allocator.Diagnostics.UsageRegistry")!.GetField(
                "s_all", System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static)!.GetValue(null)!).Count;
    }).Dispose();
}

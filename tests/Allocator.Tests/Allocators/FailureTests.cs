using System;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Allocators;

/// <summary>The system refuses the k-th call, for every k until a scenario passes untouched. Afterwards everything is where it was.</summary>
public class FailureTests
{
    private const int Block = TestSetup.BlockSize;

    public static TheoryData<string> Scenarios => ["block", "run", "mapping", "group", "group above the pool", "mixed group", "pixels", "aligned", "lease", "prewarm"];

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void Allocate_SystemRefusesFromTheKthCallOn_ThrowsAndChangesNothing(string scenario)
    {
        int passed = -1;
        for (int k = 1; passed < 0; k++)
        {
            using TestSetup setup = new(maximumBlocks: 8);
            using MemoryGroup<byte> held = setup.Allocator.AllocateGroup<byte>(4 * Block);
            setup.Source.Restart();
            setup.Source.RefuseFrom = k;
            MemoryAllocatorStatistics before = setup.Statistics;

            try
            {
                Run(scenario, setup.Allocator);
                passed = k;
            }
            catch (OutOfMemoryException e)
            {
                Assert.Contains("refused", e.Message);
                Assert.Equal(8, setup.Statistics.AllocationRetries);
                Assert.Equal(8, setup.Clock.Delays.Count);

                MemoryAllocatorStatistics after = setup.Statistics;
                Assert.Equal(
                    (before.RentedBytes, before.OutstandingAllocations, before.Rents, before.PoolHits, before.PoolMisses),
                    (after.RentedBytes, after.OutstandingAllocations, after.Rents, after.PoolHits, after.PoolMisses));
                Assert.Equal(after.CommittedBytes, after.RentedBytes + after.RetainedBytes);
                Assert.Equal(0, setup.Source.LiveAllocations);
            }

            // No slot of the pool was lost: all of it can be had.
            setup.Source.Restart();
            using MemoryGroup<byte> rest = setup.Allocator.AllocateGroup<byte>(4 * Block);
            Assert.Equal((0, 8L * Block), (setup.Source.LiveAllocations, setup.Statistics.RentedBytes));
        }

        Assert.InRange(passed, 2, 100);
    }

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void Allocate_SystemRefusesTheKthCallOnly_SucceedsAfterARetry(string scenario)
    {
        for (int k = 1; k < 30; k++)
        {
            using TestSetup setup = new(maximumBlocks: 8);
            setup.Source.RefuseFrom = k;
            setup.Source.RefuseCount = 1;
            Run(scenario, setup.Allocator);
            Assert.Equal((0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
            Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
        }
    }

    [Fact]
    public void Allocate_SystemRefuses_IdleMemoryGoesBeforeTheNextTry()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Source.Restart();
        setup.Source.RefuseFrom = 1;
        setup.Clock.OnDelay = () => setup.Source.RefuseFrom = setup.Statistics.RetainedBytes == 0 ? int.MaxValue : 1;
        setup.Allocator.Allocate<byte>(100 * Block).Dispose();
        Assert.Equal((1L, 8L * Block), (setup.Statistics.AllocationRetries, setup.Statistics.TrimmedBytes));
        Assert.Equal(1, setup.Collections);
    }

    [Fact]
    public void Allocate_SomethingElseFailsBeforeTheRentBegins_GivesTheMemoryBack()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Clock.FailToMakeTimers = true;
        foreach (int length in (int[])[Block, 3 * Block, 100 * Block])
        {
            setup.Allocator.ReleaseRetainedResources();
            Assert.Throws<InvalidOperationException>(() => setup.Allocator.Allocate<byte>(length));
            setup.Allocator.ReleaseRetainedResources();
            Assert.Throws<InvalidOperationException>(() => setup.Allocator.AllocateGroup<byte>(length));
        }

        Assert.Equal((0L, 0L, 0), (setup.Statistics.RentedBytes, setup.Statistics.OutstandingAllocations, setup.Source.LiveAllocations));
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
        setup.Clock.FailToMakeTimers = false;
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        Assert.Equal(8 * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Allocate_GroupFailsAfterSomeBlocks_TheseAreTrimmedLater()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Source.RefuseFrom = 4;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.AllocateGroup<byte>(8 * Block));
        setup.Clock.Advance(TimeSpan.FromMinutes(10));
        Assert.Equal(0, setup.Statistics.CommittedBytes);
    }

    [Fact]
    public void Allocate_MoreThanTheMachineHas_ThrowsOutOfMemoryNamingTheSize()
    {
        using TestSetup setup = new(8, new MemoryAllocatorOptions { AllocationLimitMegabytes = int.MaxValue });
        OutOfMemoryException e = Assert.Throws<OutOfMemoryException>(() => setup.Allocator.AllocateGroup<byte>(1L << 50, 1, AllocationOptions.Contiguous));
        Assert.Contains("1,125,899,906,842,624", e.Message);
        Assert.Equal(0, setup.Statistics.CommittedBytes);
    }

    private static void Run(string scenario, MemoryAllocator allocator)
    {
        using IDisposable? owned = scenario switch
        {
            "block" => allocator.Allocate<byte>(Block),
            "run" => allocator.Allocate<byte>(3 * Block),
            "mapping" => allocator.Allocate<byte>(30 * Block),
            "group" => allocator.AllocateGroup<byte>(3 * Block),
            "mixed group" => allocator.AllocateGroup<byte>(8 * Block),
            "group above the pool" => allocator.AllocateGroup<byte>(40 * Block),
            "pixels" => allocator.AllocatePixels<int>(500, 100),
            "aligned" => allocator.AllocateAligned<byte>(100, 4096),
            _ => null,
        };
        if (scenario == "lease")
        {
            allocator.Rent<byte>(Block).Dispose();
        }
        else if (scenario == "prewarm")
        {
            allocator.Prewarm(3 * Block);
        }
    }
}

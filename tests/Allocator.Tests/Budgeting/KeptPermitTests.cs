using System;
using System.Buffers;
using System.Linq;
using System.Threading.Tasks;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Budgeting;

/// <summary>Idle blocks keep their part of the budget for the next rent, until a request has no room without it.</summary>
public class KeptPermitTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Return_BudgetHasRoom_KeepsThePermitForTheNextRent()
    {
        using TestSetup setup = new(budget: 8 * Block);
        for (int i = 0; i < 3; i++)
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            Assert.Equal((Block, Block), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal((Block, 0L), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
    }

    [Theory]
    [InlineData("Allocate")]
    [InlineData("AllocateAsync")]
    [InlineData("AllocateGroup")]
    [InlineData("TryReserve")]
    [InlineData("ReserveAsync")]
    [InlineData("TryGrow")]
    [InlineData("GrowAsync")]
    [InlineData("TrackExternalMemory")]
    public async Task Request_OnlyIdleBlocksAreInTheWay_IsServedWithoutAWait(string kind)
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        await using Serving served = await Serving.StartAsync(setup.Allocator, kind);
        Assert.Equal((8L * Block, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits));
        Assert.InRange(Admitted(setup), 0, 8 * Block);
    }

    [Fact]
    public async Task Return_WhileARequestWaits_GoesToItAndKeepsNothing()
    {
        using TestSetup setup = new(budget: 2 * Block);
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(2 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        first.Dispose();
        (await waiting.WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.Equal(0, Admitted(setup));
    }

    [Fact]
    public void Trim_IdleBlocksHaveKeptTheirPermits_ReturnsThem()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L), (Admitted(setup), setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Tick_IdleBlocksHaveKeptTheirPermits_ReturnsThoseOfTheStale()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 1);
        for (int i = 0; i < 5; i++)
        {
            setup.Clock.Advance(TimeSpan.FromMinutes(1));
        }

        Assert.Equal((0L, 0L), (Admitted(setup), setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Dispose_IdleBlocksHaveKeptTheirPermits_ReturnsThem()
    {
        TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        IMemoryOwner<byte> late = setup.Allocator.Allocate<byte>(Block);
        setup.Dispose();
        Assert.Equal(Block, Admitted(setup));
        late.Dispose();
        Assert.Equal((0L, 0), (Admitted(setup), setup.Source.LiveReservations));
    }

    [Fact]
    public void Reservation_RentsWhatTheBudgetHasKept_ReturnsEachPermitOnce()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 2);
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? reservation));
        IMemoryOwner<byte> ofReservation = reservation!.Allocate<byte>(Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((3L * Block, (long)Block), (reservation.RemainingBytes, reservation.PeakUsedBytes));
        reservation.Dispose();
        Assert.Equal(Block, setup.Statistics.BudgetUsedBytes);
        ofReservation.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, Admitted(setup));
    }

    [Theory]
    [InlineData(SafetyMode.Sampled, false)]
    [InlineData(SafetyMode.Guarded, false)]
    [InlineData(SafetyMode.Standard, true)]
    public void Return_MemoryIsWatchedOrCleared_ReturnsAllPermitsInTheEnd(SafetyMode safety, bool clears)
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { Safety = safety, ClearOnReturn = clears, SafetySampleInterval = 2 }, budget: 8 * Block);
        for (int i = 0; i < 10; i++)
        {
            KeepSome(setup, blocks: 2);
            Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        }

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, Admitted(setup));
    }

    [Fact]
    public void Return_TheContainerHasToKeepSomeFree_KeepsNoPermit()
    {
        using TestSetup setup = new(budget: 8 * Block, minimumFree: Block);
        KeepSome(setup, blocks: 2);
        Assert.Equal(0, Admitted(setup));
    }

    [Fact]
    public async Task TryGrow_WhileAYoungerReservationWaitsToGrow_LetsItWait()
    {
        using TestSetup setup = new(budget: 8 * Block);
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? older));
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? younger));
        Task growth = younger!.GrowAsync(2 * Block).AsTask();
        Assert.False(older!.TryGrow(Block));
        Assert.False(growth.IsCompleted);
        older.Dispose();
        await growth.WaitAsync(TimeSpan.FromSeconds(30));
        younger.Dispose();
    }

    private static long Admitted(TestSetup setup) => setup.Allocator.Account!.Budget!.AdmittedBytes;

    private static void KeepSome(TestSetup setup, int blocks)
    {
        foreach (IMemoryOwner<byte> owner in Enumerable.Range(0, blocks).Select(_ => setup.Allocator.Allocate<byte>(Block)).ToArray())
        {
            owner.Dispose();
        }
    }

    /// <summary>Has the whole budget of eight blocks, in one way or another.</summary>
    private sealed class Serving : IAsyncDisposable
    {
        private IDisposable[] _held = [];

        public static async Task<Serving> StartAsync(MemoryAllocator allocator, string kind)
        {
            Serving serving = new();
            if (kind is "TryGrow" or "GrowAsync")
            {
                Assert.True(allocator.TryReserve(Block, out MemoryReservation? reservation));
                serving._held = [reservation!];
                Assert.True(kind == "GrowAsync" || reservation!.TryGrow(7 * Block));
                await (kind == "TryGrow" ? default : reservation!.GrowAsync(7 * Block));
                return serving;
            }

            MemoryReservation? reserved = null;
            Assert.True(kind != "TryReserve" || allocator.TryReserve(8 * Block, out reserved));
            serving._held =
            [
                kind switch
                {
                    "Allocate" => allocator.Allocate<byte>(8 * Block),
                    "AllocateAsync" => await allocator.AllocateAsync<byte>(8 * Block),
                    "AllocateGroup" => allocator.AllocateGroup<byte>(8 * Block),
                    "ReserveAsync" => await allocator.ReserveAsync(8 * Block),
                    "TrackExternalMemory" => allocator.TrackExternalMemory(8 * Block),
                    _ => reserved!,
                },
            ];
            return serving;
        }

        public ValueTask DisposeAsync()
        {
            Array.ForEach(_held, static held => held.Dispose());
            return default;
        }
    }
}

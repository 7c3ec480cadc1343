namespace Allocator.Tests.Native;

/// <summary>No number that a caller names makes a sum wrap, and with it a limit vanish.</summary>
public class ByteCountTests
{
    private const int Block = TestSetup.BlockSize;

    [Theory]
    [InlineData(0, 0, 0)]
    [InlineData(-3, 5, 2)]
    [InlineData(long.MaxValue - 1, 1, long.MaxValue)]
    [InlineData(long.MaxValue, 1, long.MaxValue)]
    [InlineData(long.MaxValue, long.MaxValue, long.MaxValue)]
    [InlineData(long.MaxValue, long.MinValue, -1)]
    [InlineData(long.MaxValue, -long.MaxValue, 0)]
    [InlineData(long.MinValue + 1, -1, long.MinValue)]
    [InlineData(long.MinValue, -1, long.MinValue)]
    [InlineData(long.MinValue, long.MinValue, long.MinValue)]
    public void Add_AnySum_SaturatesInsteadOfWrapping(long a, long b, long sum)
    {
        Assert.Equal(sum, ByteCount.Add(a, b));
        Assert.Equal(sum, ByteCount.Add(b, a));
    }

    [Theory]
    [InlineData(0, long.MaxValue, 0)]
    [InlineData(3, 5, 15)]
    [InlineData(1L << 31, 1L << 31, 1L << 62)]
    [InlineData(1L << 32, 1L << 31, long.MaxValue)]
    [InlineData(1L << 60, 16, long.MaxValue)]
    [InlineData(long.MaxValue, long.MaxValue, long.MaxValue)]
    public void Multiply_AnyProduct_SaturatesInsteadOfWrapping(long a, long b, long product)
    {
        Assert.Equal(product, ByteCount.Multiply(a, b));
        Assert.Equal(product, ByteCount.Multiply(b, a));
    }

    [Theory]
    [InlineData(0, 64, 0)]
    [InlineData(1, 64, 64)]
    [InlineData(64, 64, 64)]
    [InlineData(long.MaxValue, 64, long.MaxValue)]
    public void RoundUp_AnyValue_SaturatesInsteadOfWrapping(long value, long multiple, long result) =>
        Assert.Equal(result, ByteCount.RoundUp(value, multiple));

    // The sum of what is asked for and what another allocator has reserved was below zero, and so below all that is free. Granted,
    // it left nothing for any other request of its allocator.
    [Theory]
    [InlineData(long.MaxValue)]
    [InlineData(long.MaxValue - 1)]
    [InlineData(long.MaxValue / 2)]
    [InlineData(long.MaxValue / 16)]
    public async Task TryReserve_AbsurdUnderAMinimumThatStaysFree_IsRefusedAndOthersAreServed(long bytes)
    {
        using TestSetup other = new(minimumFree: 2 * Block);
        using TestSetup setup = new(sharesTimeWith: other, minimumFree: 2 * Block);
        other.Left.Now = new Headroom(100 * Block, 50 * Block, 60 * Block);
        other.Clock.Advance(TimeSpan.FromSeconds(1));
        using MemoryReservation held = await other.Allocator.ReserveAsync(Block);
        Assert.False(setup.Allocator.TryReserve(bytes, out _));
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? job));
        Assert.False(job.TryGrow(bytes));
        Assert.False(Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.TrackExternalMemory(bytes)).IsTransient);
        Assert.False(Assert.Throws<MemoryLimitExceededException>(() => job.TrackExternalMemory(bytes)).IsTransient);
        setup.Allocator.Allocate<byte>(4 * Block).Dispose();
        job.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // What no system says is free is not refused, but for more than any machine has.
    [Fact]
    public async Task ReserveAsync_AbsurdWhereNoSystemSaysWhatIsFree_IsRefusedAndOthersAreServed()
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        Assert.False(setup.Allocator.TryReserve(long.MaxValue, out _));
        await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await setup.Allocator.ReserveAsync(long.MaxValue / 16));
        (await setup.Allocator.ReserveAsync(1L << 50)).Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // One kept all others from what is free, and 18 of them were less than nothing.
    [Theory]
    [InlineData(1)]
    [InlineData(20)]
    public void TrackExternalMemory_AbsurdBesideAMinimumThatStaysFree_ChangesNothingForOthers(int times)
    {
        using TestSetup limited = new(minimumFree: 2 * Block);
        using TestSetup client = new(sharesTimeWith: limited);
        limited.Left.Now = new Headroom(100 * Block, 50 * Block, long.MaxValue);
        limited.Clock.Advance(TimeSpan.FromSeconds(1));
        List<IDisposable> announced = [];
        for (int i = 0; i < times; i++)
        {
            announced.Add(client.Allocator.TrackExternalMemory((long.MaxValue / 16) - 1));
        }

        Assert.True(limited.Allocator.TryReserve(40 * Block, out MemoryReservation? job));
        Assert.False(limited.Allocator.TryReserve(20 * Block, out _));
        announced.ForEach(static one => one.Dispose());
        job.Dispose();
        Assert.Equal(0, limited.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public void TrackExternalMemory_TwentyAbsurdInAReservationWithoutABudget_AreRefusedWhereTheirSumWouldWrap()
    {
        using TestSetup setup = new();
        Assert.True(setup.Allocator.TryReserve(Block, out MemoryReservation? job));
        List<IDisposable> announced = [];
        for (int i = 0; i < 16; i++)
        {
            announced.Add(job.TrackExternalMemory((long.MaxValue / 16) - 1));
        }

        for (int i = 0; i < 4; i++)
        {
            Assert.Throws<MemoryLimitExceededException>(() => job.TrackExternalMemory((long.MaxValue / 16) - 1));
        }

        Assert.Equal(((long.MaxValue / 16) - 1) * 16, job.PeakUsedBytes);
        announced.ForEach(static one => one.Dispose());
        Assert.Equal((Block, Block), (job.RemainingBytes, job.ReservedBytes));
        job.Dispose();
    }
}

namespace Allocator.Tests.Lifetime;

/// <summary>
/// What was never disposed gives its part of the budget back. Everything here needs collections and finalizers of its own, hence a process
/// of its own.
/// </summary>
public class BudgetedAbandonmentTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Abandoned_SmallBuffer_ReturnsBudgetAndCountButNotItsArray() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(budget: Block);
        for (int i = 1; i <= 100; i++)
        {
            WeakReference array = Abandon(setup.Allocator, 1000);
            Collect();
            Assert.Equal(
                (0L, 0L, 0L, (long)i),
                (
                    setup.Statistics.BudgetUsedBytes,
                    setup.Statistics.OutstandingAllocations,
                    setup.Statistics.RentedBytes,
                    setup.Statistics.Abandoned));

            // A span into it may still live, so it is not handed on: the collector has it.
            Collect();
            Assert.False(array.IsAlive);
        }

        // No guard was lost, nor is one in two hands.
        using IMemoryOwner<byte> one = setup.Allocator.Allocate<byte>(1000);
        using IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(1000);
        one.Memory.Span.Fill(1);
        other.Memory.Span.Fill(2);
        Assert.Equal(-1, one.Memory.Span.IndexOfAnyExcept((byte)1));
    }).Dispose();

    [Theory]
    [InlineData(AbandonedMemory.Quarantine)]
    [InlineData(AbandonedMemory.Reuse)]
    public void Abandoned_Group_CountsAgainstTheBudgetUntilItIsBack(AbandonedMemory abandoned) => RemoteExecutor.Invoke(
        static text =>
        {
            bool isQuarantined = text == nameof(AbandonedMemory.Quarantine);
            using TestSetup setup = new(
                16,
                new MemoryAllocatorOptions { Abandoned = isQuarantined ? AbandonedMemory.Quarantine : AbandonedMemory.Reuse },
                budget: 8 * Block);
            AbandonGroup(setup.Allocator);
            Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(8 * Block).AsTask();
            Assert.True(setup.HasCollected(1));
            Assert.False(waiting.IsCompleted);
            Collect();
            if (isQuarantined)
            {
                Assert.Equal((6L * Block, 6L * Block), (setup.Statistics.BudgetUsedBytes, setup.Statistics.QuarantinedBytes));
                Assert.False(waiting.IsCompleted);
                setup.Clock.Advance(TimeSpan.FromMinutes(1));
                Collect();
            }

            Assert.True(waiting.Wait(TimeSpan.FromSeconds(30)));
            waiting.Result.Dispose();
            Assert.Equal((0L, 1L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.Abandoned));
        },
        abandoned.ToString()).Dispose();

    /// <summary>
    /// A decoder drops the frames that it has when it is refused one more. Once its job has ended, nobody works with them, so one
    /// collection brings them back. Other memory stays in quarantine.
    /// </summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void Abandoned_JobWasRefusedMemoryAndEnded_IsReturnedByTheCollectionThatFindsIt(bool isRefused, bool isAmbient) =>
        RemoteExecutor.Invoke(
            static flags =>
            {
                (bool isRefused, bool isAmbient) = (flags[0] == '1', flags[1] == '1');
                using TestSetup setup = new(16, budget: 16 * Block);
                using IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(4 * Block);
                MemoryReservation job = setup.Allocator.ReserveAsync(6 * Block).AsTask().GetAwaiter().GetResult();
                using (isAmbient ? job.Use() : default)
                {
                    MemoryAllocator decoder = isAmbient ? setup.Allocator : job;
                    AbandonGroup(decoder);
                    if (isRefused)
                    {
                        Assert.Throws<MemoryLimitExceededException>(() => decoder.Allocate<byte>(8 * Block));
                    }
                }

                Collect();
                Assert.Equal(6 * Block, setup.Statistics.QuarantinedBytes);
                job.Dispose();
                Collect();
                Assert.Equal((isRefused ? 4 : 10) * Block, setup.Statistics.BudgetUsedBytes);
            },
            $"{(isRefused ? 1 : 0)}{(isAmbient ? 1 : 0)}").Dispose();

    [Theory]
    [InlineData("0")]
    [InlineData("1")]
    public void AbandonedBuffer_WaiterPresent_IsReclaimed(string concurrent) => RemoteExecutor.Invoke(
        static () =>
        {
            // Nothing here calls GC.Collect. Two small buffers: no block is outstanding that would keep the timer running.
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(20), MemoryBudgetMegabytes = 1 });
            Abandon(allocator, 512 * 1024);
            StrongBox<IMemoryOwner<byte>?> held = Hold(allocator, 512 * 1024);
            Task<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(1024 * 1024).AsTask();
            Task<IMemoryOwner<byte>> first = allocator.AllocateAsync<byte>(512 * 1024).AsTask();
            Assert.True(first.Wait(TimeSpan.FromSeconds(25)), "What was abandoned before was not found.");

            // What is abandoned while a request waits is found too.
            first.Result.Dispose();
            held.Value = null;
            Assert.True(waiting.Wait(TimeSpan.FromSeconds(25)), "What was abandoned meanwhile was not found.");
            waiting.Result.Dispose();
            Assert.Equal(2, MemoryDiagnostics.AbandonedAllocations);
        },
        new RemoteInvokeOptions { Environment = { ["DOTNET_gcConcurrent"] = concurrent } }).Dispose();

    [Theory]
    [InlineData("0")]
    [InlineData("1")]
    public void AbandonedReservation_WaiterPresent_IsReclaimed(string concurrent) => RemoteExecutor.Invoke(
        static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(20), MemoryBudgetMegabytes = 8 });
            StrongBox<MemoryReservation?> held = Reserve(allocator);
            Task<MemoryReservation> waiting = allocator.ReserveAsync(8 << 20).AsTask();
            Assert.False(waiting.IsCompleted);
            held.Value = null;
            Assert.True(waiting.Wait(TimeSpan.FromSeconds(50)));
            waiting.Result.Dispose();
        },
        new RemoteInvokeOptions { Environment = { ["DOTNET_gcConcurrent"] = concurrent } }).Dispose();

    // Its parts' finalizers wait in the same queue: the memory goes back when they have run, and the budget not before.
    [Fact]
    public void Finalizer_UserFinalizerDisposesAGroup_ReturnsBudgetAndMemory() => RemoteExecutor.Invoke(static () =>
    {
        // Where a guard's finalizer comes before the user's, the group counts as abandoned, and would stay in quarantine.
        using TestSetup setup = new(4, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse }, budget: 16 * Block);
        for (int i = 0; i < 20; i++)
        {
            DropGroupWithFinalizer(setup);
            Collect();
            Assert.True(System.Threading.SpinWait.SpinUntil(() => setup.Statistics.BudgetUsedBytes == 0, TimeSpan.FromSeconds(30)));
            Assert.True(setup.AllIsIdle);
            setup.Allocator.AllocateGroup<byte>(16 * Block).Dispose();
        }
    }).Dispose();

    [Fact]
    public void Abandoned_Reservation_ReturnsItsUnusedPart() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(budget: 8 * Block);
        IMemoryOwner<byte> owner = AllocateFromADroppedReservation(setup.Allocator);
        Assert.Equal(8 * Block, setup.Statistics.BudgetUsedBytes);
        Collect();
        Assert.Equal((2L * Block, 1L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.Abandoned));
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }).Dispose();

    [Fact]
    public void Finalizer_UserFinalizerDisposesASmallBuffer_ReturnsItOnce() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(budget: Block);
        for (int i = 0; i < 20; i++)
        {
            DropWithFinalizer(setup.Allocator);
            Collect();
            Collect();
            Assert.Equal((0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations));
            IMemoryOwner<byte>[] owners =
                [setup.Allocator.Allocate<byte>(1000), setup.Allocator.Allocate<byte>(1000), setup.Allocator.Allocate<byte>(1000)];
            Array.ForEach(owners, owner => owner.Memory.Span.Fill((byte)Array.IndexOf(owners, owner)));
            Array.ForEach(owners, owner => Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)Array.IndexOf(owners, owner))));
            Array.ForEach(owners, static owner => owner.Dispose());
        }
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Abandon(MemoryAllocator allocator, int length)
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
        MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> segment);
        return new WeakReference(segment.Array);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static StrongBox<MemoryReservation?> Reserve(MemoryAllocator allocator) =>
        new(allocator.ReserveAsync(8 << 20).AsTask().GetAwaiter().GetResult());

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropGroupWithFinalizer(TestSetup setup)
    {
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(16 * Block);
        _ = new DisposesInItsFinalizer(group, () => Assert.False(setup.Statistics.BudgetUsedBytes == 0 && !setup.AllIsIdle));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonGroup(MemoryAllocator allocator)
    {
        MemoryGroup<byte> group = allocator.AllocateGroup<byte>(6 * Block);
        Assert.Equal(6, group.Count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static StrongBox<IMemoryOwner<byte>?> Hold(MemoryAllocator allocator, int length) => new(allocator.Allocate<byte>(length));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IMemoryOwner<byte> AllocateFromADroppedReservation(MemoryAllocator allocator)
    {
        MemoryReservation reservation = allocator.ReserveAsync(8 * Block).AsTask().GetAwaiter().GetResult();
        return reservation.Allocate<byte>(2 * Block);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropWithFinalizer(MemoryAllocator allocator) => _ = new DisposesInItsFinalizer(allocator.Allocate<byte>(1000));

    private static void Collect() => QueuedWork.Collect();

    private sealed class DisposesInItsFinalizer(IDisposable owner, Action? afterwards = null)
    {
        ~DisposesInItsFinalizer()
        {
            owner.Dispose();
            afterwards?.Invoke();
        }
    }
}

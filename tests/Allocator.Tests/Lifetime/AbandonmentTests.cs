using System.Collections.Concurrent;

namespace Allocator.Tests.Lifetime;

/// <summary>
/// What becomes of memory that was never disposed. Everything here needs collections and finalizers of its own, hence a process of its
/// own.
/// </summary>
public class AbandonmentTests
{
    private const int Block = TestSetup.BlockSize;

    public static TheoryData<int> UnmanagedLengths => [Block, 3 * Block, 50 * Block];

    [Theory]
    [MemberData(nameof(UnmanagedLengths))]
    public void Abandoned_ReuseSingle_IsReturnedByTheFinalizer(int length) => RemoteExecutor.Invoke(
        static text =>
        {
            int length = int.Parse(text);
            using TestSetup setup = new(16, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
            nint address = AbandonSingle(setup, length, 0xAB);
            Collect();

            if (length <= 16 * Block)
            {
                Assert.Equal((0L, 0L), (setup.Statistics.RentedBytes, setup.Statistics.QuarantinedBytes));
                using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(length);
                Assert.Equal(-1, next.Memory.Span.IndexOfAnyExcept((byte)0xAB));
                Assert.Equal(address, AddressOf(next));
            }
            else
            {
                Wait(() => setup.Source.LiveAllocations == 0);
            }

            Assert.Equal((1L, 0L), (setup.Statistics.Abandoned, setup.Statistics.OutstandingAllocations));
        },
        length.ToString()).Dispose();

    [Theory]
    [MemberData(nameof(UnmanagedLengths))]
    public void Abandoned_ReuseGroup_IsReturnedByTheFinalizer(int length) => RemoteExecutor.Invoke(
        static text =>
        {
            int length = int.Parse(text);
            using TestSetup setup = new(16, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
            AbandonGroup(setup, length);
            Collect();
            Wait(() => setup.Statistics.QuarantinedBytes == 0 && setup.Source.LiveAllocations == 0);
            Assert.Equal(
                (1L, 0L, 0L), (setup.Statistics.Abandoned, setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
            Wait(() => setup.AllIsIdle);
            setup.Allocator.AllocateGroup<byte>(16 * Block).Dispose();
            Assert.Equal(0, setup.Source.LiveAllocations);
        },
        length.ToString()).Dispose();

    [Theory]
    [MemberData(nameof(UnmanagedLengths))]
    public void Abandoned_Quarantine_IsReturnedAfterACollectionAndAPeriod(int length) => RemoteExecutor.Invoke(
        static text =>
        {
            int length = int.Parse(text);
            using TestSetup setup = new(16);
            AbandonSingle(setup, length, 1);
            AbandonGroup(setup, length);
            Collect();
            long quarantined = setup.Statistics.QuarantinedBytes;
            Assert.Equal(
                (2L, 0L, 0L), (setup.Statistics.Abandoned, setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
            Assert.True(quarantined >= 2 * length);
            Assert.Equal(2, MemoryDiagnostics.AbandonedAllocations);
            Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);

            // A period alone is not enough, and a collection alone neither.
            setup.Clock.Advance(TimeSpan.FromMinutes(10));
            Assert.Equal(quarantined, setup.Statistics.QuarantinedBytes);
            Assert.True(setup.Scheduler.IsRunning);

            setup.Allocator.Allocate<byte>(Block).Dispose();
            AbandonSingle(setup, Block, 2);
            Collect();
            Assert.Equal(Block, setup.Statistics.QuarantinedBytes);
            Collect();
            Assert.Equal(Block, setup.Statistics.QuarantinedBytes);
            setup.Clock.Advance(TimeSpan.FromMinutes(1));
            Assert.Equal(Block, setup.Statistics.QuarantinedBytes);
            Collect();
            Assert.Equal(0, setup.Statistics.QuarantinedBytes);

            Assert.Equal(0, setup.Source.LiveAllocations);
            Wait(() => setup.AllIsIdle);
            setup.Clock.Advance(TimeSpan.FromMinutes(10));
            Wait(() => !setup.Scheduler.IsRunning);
        },
        length.ToString()).Dispose();

    [Fact]
    public void Abandoned_Quarantine_TheNextRenterGetsOtherMemory() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16);
        nint abandoned = AbandonSingle(setup, Block, 1);
        Collect();
        for (int i = 0; i < 15; i++)
        {
            IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            Assert.NotEqual(abandoned, AddressOf(owner));
            GC.KeepAlive(owner);
        }
    }).Dispose();

    [Fact]
    public void Abandoned_GuardIsReused_FindsTheNextAbandonmentToo() => RemoteExecutor.Invoke(static () =>
    {
        foreach (AbandonedMemory mode in (AbandonedMemory[])[AbandonedMemory.Reuse, AbandonedMemory.Quarantine])
        {
            using TestSetup setup = new(1, new MemoryAllocatorOptions { Abandoned = mode });
            for (int i = 1; i <= 5; i++)
            {
                AbandonSingle(setup, Block, 1);
                Collect();
                Assert.Equal(i, setup.Statistics.Abandoned);
                setup.Clock.Advance(TimeSpan.FromMinutes(1));
                Wait(() => setup.Statistics.QuarantinedBytes == 0);
                Assert.Equal((0L, 0, 0L), (setup.Statistics.QuarantinedBytes, setup.Source.LiveAllocations, setup.Statistics.RentedBytes));
            }
        }
    }).Dispose();

    [Theory]
    [InlineData(AbandonedMemory.Reuse)]
    [InlineData(AbandonedMemory.Quarantine)]
    public void Abandoned_SmallArray_IsCollectedAndTheAllocatorStaysUsable(AbandonedMemory mode) => RemoteExecutor.Invoke(
        static text =>
        {
            using TestSetup setup = new(16, new MemoryAllocatorOptions { Abandoned = Enum.Parse<AbandonedMemory>(text) });
            WeakReference array = AbandonSmall(setup);
            Collect();
            Assert.False(array.IsAlive);
            Assert.Equal((0L, 0L), (setup.Statistics.Abandoned, setup.Statistics.QuarantinedBytes));
            setup.Allocator.Allocate<byte>(100).Dispose();
        },
        mode.ToString()).Dispose();

    [Fact]
    public void Abandoned_MemberOfAGroupHeld_KeepsTheWholeGroup() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16);
        Memory<byte> member = MemberOfAForgottenGroup(setup);
        Collect();
        Assert.Equal((0L, 1L), (setup.Statistics.Abandoned, setup.Statistics.OutstandingAllocations));
        Assert.Equal(-1, member.Span.IndexOfAnyExcept((byte)6));
    }).Dispose();

    [Fact]
    public void Abandoned_DisposedOwnerOfTheSameBlockIsKept_IsStillFound() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(1);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        Memory<byte> memory = owner.Memory;
        MemoryHandle pin = memory.Pin();
        owner.Dispose();
        pin.Dispose();
        AbandonSingle(setup, Block, 1);
        Collect();
        Assert.Equal(1, setup.Statistics.Abandoned);
        GC.KeepAlive(owner);

        using TestSetup groups = new(3);
        MemoryGroup<byte> group = groups.Allocator.AllocateGroup<byte>(3 * Block);
        Memory<byte> member = group[1];
        group.Dispose();
        AbandonGroup(groups, 3 * Block);
        Collect();
        Assert.Equal((1L, 3L * Block), (groups.Statistics.Abandoned, groups.Statistics.QuarantinedBytes));
        Assert.Throws<ObjectDisposedException>(() => member.Span[0]);
    }).Dispose();

    [Fact]
    public void Abandoned_PinHeld_KeepsTheMemory() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16);
        MemoryHandle[] handle = PinOfAForgottenOwner(setup);
        Collect();
        Assert.Equal((0L, 1L), (setup.Statistics.Abandoned, setup.Statistics.OutstandingAllocations));
        handle[0].Dispose();
        Collect();
        Assert.Equal(1, setup.Statistics.Abandoned);
    }).Dispose();

    [Fact]
    public void Abandoned_TogetherWithTheAllocator_ReturnsEverything() => RemoteExecutor.Invoke(static () =>
    {
        TestSetup time = new(1);
        FakeMemorySource source = ForgetAllocator(time, out IMemoryOwner<byte> survivor);
        Collect();
        Wait(() => source.LiveAllocations == 0);
        time.Clock.Advance(TimeSpan.FromMinutes(2));
        Collect();
        survivor.Memory.Span.Fill(1);
        Assert.Equal(1, source.LiveReservations);
        survivor.Dispose();
        Wait(() => source.LiveReservations == 0);
    }).Dispose();

    [Fact]
    public void Free_OfAbandonedMemory_RunsOffTheFinalizerThread() => RemoteExecutor.Invoke(static () =>
    {
        int finalizerThread = FinalizerThreadId();
        foreach (AbandonedMemory mode in (AbandonedMemory[])[AbandonedMemory.Reuse, AbandonedMemory.Quarantine])
        {
            ConcurrentBag<int> threads = [];
            TestSetup setup = new(1, new MemoryAllocatorOptions { Abandoned = mode });
            setup.Source.OnFree = () => threads.Add(Environment.CurrentManagedThreadId);
            setup.Source.OnPurge = () => threads.Add(Environment.CurrentManagedThreadId);
            AbandonSingle(setup, 50 * Block, 1);
            AbandonGroup(setup, 60 * Block);
            Collect();
            setup.Clock.Advance(TimeSpan.FromMinutes(3));
            Collect();
            Wait(() => setup.Source.LiveAllocations == 0);
            Assert.NotEmpty(threads);
            Assert.DoesNotContain(finalizerThread, threads);
        }
    }).Dispose();

    [Fact]
    public void AllocationAbandoned_Subscribed_ReportsBytesAgeAndStack() => RemoteExecutor.Invoke(static () =>
    {
        BlockingCollection<AbandonedMemoryEventArgs> reports = [];
        EventHandler<AbandonedMemoryEventArgs> handler = (_, report) => reports.Add(report);
        MemoryDiagnostics.AllocationAbandoned += static (_, _) => throw new InvalidOperationException("A listener's own fault.");
        MemoryDiagnostics.AllocationAbandoned += handler;
        using TestSetup setup = new(4);
        AbandonGroup(setup, 20 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(30));
        Collect();
        Assert.True(reports.TryTake(out AbandonedMemoryEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Equal(20 * Block, report.Bytes);
        Assert.Equal(TimeSpan.FromSeconds(30), report.Age);
        Assert.Contains(nameof(AbandonGroup), report.AllocationStackTrace);
        Assert.Contains(nameof(AbandonGroup), report.ToString());
        Assert.Empty(reports);

        MemoryDiagnostics.AllocationAbandoned -= handler;
        AbandonSingle(setup, Block, 1);
        Collect();
        Assert.Equal(2, MemoryDiagnostics.AbandonedAllocations);
    }).Dispose();

    [Fact]
    public void AllocationAbandoned_SubscribedLate_HasNoStack() => RemoteExecutor.Invoke(static () =>
    {
        BlockingCollection<AbandonedMemoryEventArgs> reports = [];
        using TestSetup setup = new(4);
        AbandonSingle(setup, Block, 1);
        MemoryDiagnostics.AllocationAbandoned += (_, report) => reports.Add(report);
        Collect();
        Assert.True(reports.TryTake(out AbandonedMemoryEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Null(report.AllocationStackTrace);
        Assert.Equal(Block, report.Bytes);
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint AbandonSingle(TestSetup setup, int length, byte pattern)
    {
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        owner.Memory.Span.Fill(pattern);
        return AddressOf(owner);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference AbandonSmall(TestSetup setup)
    {
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        System.Runtime.InteropServices.MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> segment);
        return new WeakReference(segment.Array);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonGroup(TestSetup setup, int length) => setup.Allocator.AllocateGroup<byte>(length).Fill(1);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Memory<byte> MemberOfAForgottenGroup(TestSetup setup)
    {
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * Block);
        group.Fill(6);
        return group[1];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static MemoryHandle[] PinOfAForgottenOwner(TestSetup setup) => [setup.Allocator.Allocate<byte>(Block).Memory.Pin()];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FakeMemorySource ForgetAllocator(TestSetup time, out IMemoryOwner<byte> survivor)
    {
        TestSetup setup = new(16, sharesTimeWith: time);
        survivor = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.AllocateGroup<byte>(5 * Block).Dispose();
        AbandonGroup(setup, 5 * Block);
        return setup.Source;
    }

    private static unsafe nint AddressOf([Borrowed] IMemoryOwner<byte> owner)
    {
        using MemoryHandle handle = owner.Memory.Pin();
        return (nint)handle.Pointer;
    }

    private static void Collect() => QueuedWork.Collect();

    // What leaves the quarantine is found by one more collection.
    private static void Wait(Func<bool> condition) => Assert.True(SpinWait.SpinUntil(
        () =>
        {
            Collect();
            return condition();
        },
        TimeSpan.FromSeconds(30)));

    private static int FinalizerThreadId()
    {
        MakeProbe();
        Collect();
        return Probe.Thread;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeProbe() => _ = new Probe();
    }

    private sealed class Probe
    {
        ~Probe() => Thread = Environment.CurrentManagedThreadId;

        public static int Thread { get; private set; }
    }
}

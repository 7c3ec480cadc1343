using System.Diagnostics.Tracing;

namespace Allocator.Tests.Diagnostics;

/// <summary>The events of single rents, which are traced only while a listener wants them.</summary>
public class RentEventTests
{
    private const int Block = TestSetup.BlockSize;

    [Theory]
    [InlineData("array", 100, 128)]
    [InlineData("block", Block - 10, Block)]
    [InlineData("group", 3 * Block, 3 * Block)]
    [InlineData("lease", Block, Block)]
    public void RentAndReturn_WhileListenedTo_AreWrittenWithTheSameId(string kind, int length, int capacity) => RemoteExecutor.Invoke(
        static (kind, length, capacity) =>
        {
            using TestSetup setup = new(16, new MemoryAllocatorOptions { Name = "photos" });
            using AllocatorEventListener listener = new(EventLevel.Verbose, AllocatorEventListener.Rents);
            RentAndReturn(setup.Allocator, kind, int.Parse(length));

            (string rentedName, IReadOnlyDictionary<string, object?> rented) = listener.TakeValues();
            (string returnedName, IReadOnlyDictionary<string, object?> returned) = listener.TakeValues();

            Assert.Equal(("BufferRented", "BufferReturned"), (rentedName, returnedName));
            Assert.Equal(long.Parse(length), rented["requestedBytes"]);
            Assert.Equal(long.Parse(capacity), rented["bytes"]);
            Assert.Equal("photos", rented["allocatorName"]);
            Assert.Equal(
                (rented["bufferId"], rented["bytes"], rented["allocatorName"]),
                (returned["bufferId"], returned["bytes"], returned["allocatorName"]));
            Assert.InRange((long)returned["heldMilliseconds"]!, 0, long.MaxValue);
            Assert.Equal(0, listener.Waiting);
        },
        kind, $"{length}", $"{capacity}").Dispose();

    [Theory]
    [InlineData(nameof(EventLevel.Verbose), nameof(AllocatorEventListener.Memory))]
    [InlineData(nameof(EventLevel.Informational), nameof(AllocatorEventListener.Rents))]
    public void Rents_WithoutTheirKeywordOrLevel_AreNotTraced(string level, string keyword) => RemoteExecutor.Invoke(
        static (level, keyword) =>
        {
            using TestSetup setup = new();
            using AllocatorEventListener listener = new(
                Enum.Parse<EventLevel>(level), keyword == nameof(AllocatorEventListener.Rents)
                    ? AllocatorEventListener.Rents
                    : AllocatorEventListener.Memory);

            Assert.False(Tracing.Rents || Tracing.Arrays);
        },
        level, keyword).Dispose();

    [Fact]
    public void Rents_ListenerEnded_AreNoLongerTraced() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        using (AllocatorEventListener listener = new(EventLevel.Verbose, AllocatorEventListener.Rents))
        {
            Assert.True(Tracing.Rents && Tracing.Arrays);
            setup.Allocator.Allocate<byte>(Block).Dispose();
        }

        // The source learns of it after it was told: the next rent looks.
        setup.Allocator.Allocate<byte>(Block).Dispose();

        Assert.False(Tracing.Rents || Tracing.Arrays);
    }).Dispose();

    /// <summary>What a session leaves that the source still knew when it was told of its end.</summary>
    [Theory]
    [InlineData("block")]
    [InlineData("array")]
    public void Rents_TracingIsOnWithoutAListener_NextRentTurnsItOff(string kind) => RemoteExecutor.Invoke(
        static kind =>
        {
            using TestSetup setup = new();
            Tracing.SetForEvents(true);

            setup.Allocator.Allocate<byte>(kind == "block" ? Block : 16).Dispose();

            Assert.False(Tracing.Rents || Tracing.Arrays);
        },
        kind).Dispose();

    [Fact]
    public void Return_RentedBeforeAnyListener_IsNotWritten() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> early = setup.Allocator.Allocate<byte>(Block);
        using AllocatorEventListener listener = new(EventLevel.Verbose, AllocatorEventListener.Rents);
        early.Dispose();

        Assert.Equal(0, listener.Waiting);
    }).Dispose();

    [Fact]
    public void Rent_OnlyEventsRequested_KeepsNoStack() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        using AllocatorEventListener listener = new(EventLevel.Verbose, AllocatorEventListener.Rents);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        owner.Dispose();

        string message = Assert.Throws<ObjectDisposedException>(() => owner.Memory.Span[0]).Message;
        Assert.Matches(@"16,384 bytes, allocated \d+\.\d s ago", message);
        Assert.DoesNotContain(" at ", message, StringComparison.Ordinal);
    }).Dispose();

    [Fact]
    public void Return_ByAUserFinalizer_IsWrittenOnAnotherThread() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        using AllocatorEventListener listener = new(
            EventLevel.Verbose, AllocatorEventListener.Rents, static _ => ThreadThatWrote = Environment.CurrentManagedThreadId);
        DropHolder(setup.Allocator);
        listener.Take();
        QueuedWork.Collect();

        EventWrittenEventArgs returned = listener.Take();
        if (returned.EventName == "AllocationAbandoned")
        {
            // The collector is free to run the guard's finalizer first. Then there is no return to be written.
            Assert.Equal(1, setup.Statistics.Abandoned);
            return;
        }

        Assert.Equal("BufferReturned", returned.EventName);
        Assert.NotEqual(0, Holder.FinalizerThread);
        Assert.NotEqual(Holder.FinalizerThread, ThreadThatWrote);
    }).Dispose();

    [Theory]
    [InlineData(nameof(AbandonedMemory.Reuse))]
    [InlineData(nameof(AbandonedMemory.Quarantine))]
    public void Abandoned_Rent_HasNoReturn(string abandoned) => RemoteExecutor.Invoke(
        static abandoned =>
        {
            using TestSetup setup = new(
                16, new MemoryAllocatorOptions { Name = "photos", Abandoned = Enum.Parse<AbandonedMemory>(abandoned) });
            using AllocatorEventListener listener = new(EventLevel.Verbose, AllocatorEventListener.Rents);
            Drop(setup.Allocator);
            Assert.Equal("BufferRented", listener.Take().EventName);
            QueuedWork.Collect();
            (string name, IReadOnlyDictionary<string, object?> leak) = listener.TakeValues();
            Assert.Equal(("AllocationAbandoned", "photos", (object)(long)Block), (name, leak["allocatorName"], leak["bytes"]));
            setup.Clock.Advance(TimeSpan.FromMinutes(5));
            QueuedWork.Collect();
            Assert.Equal(0, setup.Statistics.QuarantinedBytes);

            Assert.Equal(0, listener.Waiting);
        },
        abandoned).Dispose();

    [Fact]
    public void Listener_Throws_RentsSucceed() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        using AllocatorEventListener listener = new(
            EventLevel.Verbose, EventKeywords.All, static _ => throw new InvalidOperationException("of the listener"));
        setup.Allocator.AllocateGroup<byte>(3 * Block).Dispose();
        setup.Allocator.Allocate<byte>(100).Dispose();
        setup.Allocator.Rent<byte>(Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();

        Assert.True(listener.Waiting >= 8);
        Assert.Equal((0, 0, 0, 3), Outcome(setup));
    }).Dispose();

    [Fact]
    public void Listener_Allocates_IsNotNotifiedOfItsOwnRents() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new();
        List<string> told = [];
        int allocations = 0;
        using AllocatorEventListener listener = new(EventLevel.Verbose, EventKeywords.All, written =>
        {
            if (written.EventSource.Name == "Allocator")
            {
                told.Add(written.EventName!);
                setup.Allocator.Allocate<byte>(Block).Dispose();
                setup.Allocator.AllocateGroup<byte>(2 * Block).Dispose();
                setup.Allocator.Allocate<byte>(100).Dispose();
                setup.Allocator.ReleaseRetainedResources();
                allocations += 3;
            }
        });
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();

        Assert.Equal(["MemoryCommitted", "BufferRented", "BufferReturned", "MemoryDecommitted", "MemoryTrimmed"], told);
        Assert.Equal((0, 0, 0, allocations + 1), Outcome(setup));
    }).Dispose();

    [Theory]
    [InlineData(Block)]
    [InlineData(100)]
    public void Return_RentedByAListenerInAnEvent_IsNotWritten(int length) => RemoteExecutor.Invoke(
        static length =>
        {
            using TestSetup setup = new();
            IMemoryOwner<byte>? kept = null;
            using AllocatorEventListener listener = new(
                EventLevel.Verbose, AllocatorEventListener.Rents, written => kept ??= setup.Allocator.Allocate<byte>(int.Parse(length)));
            setup.Allocator.Allocate<byte>(Block).Dispose();
            Assert.Equal(("BufferRented", "BufferReturned"), (listener.Take().EventName, listener.Take().EventName));

            kept!.Dispose();

            Assert.Equal(0, listener.Waiting);
        },
        $"{length}").Dispose();

    private static int ThreadThatWrote { get; set; }

    private static (long Rented, long Committed, long Outstanding, long Rents) Outcome(TestSetup setup)
    {
        MemoryAllocatorStatistics now = setup.Statistics;
        return (now.RentedBytes, now.CommittedBytes, now.OutstandingAllocations, now.Rents);
    }

    private static void RentAndReturn(MemoryAllocator allocator, string kind, int length)
    {
        switch (kind)
        {
            case "group": allocator.AllocateGroup<byte>(length).Dispose(); break;
            case "lease": allocator.Rent<byte>(length).Dispose(); break;
            default: allocator.Allocate<byte>(length).Dispose(); break;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(MemoryAllocator allocator) => allocator.Allocate<byte>(Block);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropHolder(MemoryAllocator allocator)
    {
        // Before the first rent makes the guard: finalizers run in the order in which their objects were made.
        Holder holder = new();
        holder.Owner = allocator.Allocate<byte>(Block);
    }

    private sealed class Holder
    {
        ~Holder()
        {
            FinalizerThread = Environment.CurrentManagedThreadId;
            Owner?.Dispose();
        }

        public IMemoryOwner<byte>? Owner { get; set; }

        public static int FinalizerThread { get; private set; }
    }
}

using System.Diagnostics.Tracing;
using System.Globalization;
using System.Xml.Linq;

namespace Allocator.Tests.Diagnostics;

/// <summary>The events of memory that comes and goes, and of requests that wait for it.</summary>
public class MemoryEventTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Memory_FromTheSystemAndBack_IsWrittenWithWhatIsCommitted() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(2, new MemoryAllocatorOptions { Name = "photos" });
        using AllocatorEventListener listener = new(
            EventLevel.Informational, AllocatorEventListener.Memory | AllocatorEventListener.Trimming);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.Allocate<byte>(3 * Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();

        AssertNext(listener, "MemoryCommitted", Block, Block);
        AssertNext(listener, "MemoryCommitted", 3 * Block, 4 * Block);
        AssertNext(listener, "MemoryDecommitted", 3 * Block, Block);
        AssertNext(listener, "MemoryDecommitted", Block, 0);
        (string name, IReadOnlyDictionary<string, object?> trim) = listener.TakeValues();
        Assert.Equal(("MemoryTrimmed", "Requested", "None", "photos"), (name, trim["reason"], trim["source"], trim["allocatorName"]));
        Assert.Equal(0, listener.Waiting);
    }).Dispose();

    [Fact]
    public void MemoryTrimmed_BudgetRefusedARequest_NamesThatReason() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(4, budget: 4 * Block);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Trimming);
        using IMemoryOwner<byte> mapping = setup.Allocator.AllocateAligned<byte>(200, 64);

        (string name, IReadOnlyDictionary<string, object?> trim) = listener.TakeValues();

        Assert.Equal(("MemoryTrimmed", "Refusal"), (name, trim["reason"]));
    }).Dispose();

    [Fact]
    public void BudgetWait_CallThatDoesNotWait_BeginsAndIsGivenUp() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(4, new MemoryAllocatorOptions { Name = "photos" }, budget: 4 * Block);
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget);
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.AllocateGroup<byte>(4 * Block));

        (string beganName, IReadOnlyDictionary<string, object?> began) = listener.TakeValues();
        (string endedName, IReadOnlyDictionary<string, object?> ended) = listener.TakeValues();

        Assert.Equal(("BudgetWaitBegan", "BudgetWaitEnded"), (beganName, endedName));
        Assert.Equal(
            (4L * Block, (long)Block, 4L * Block, "photos"),
            (began["bytes"], began["usedBytes"], began["limitBytes"], began["allocatorName"]));
        Assert.Equal(
            (4L * Block, 0L, "GivenUp", "photos"),
            (ended["bytes"], ended["waitedMilliseconds"], ended["outcome"], ended["allocatorName"]));
        Assert.Equal(0, listener.Waiting);
    }).Dispose();

    [Fact]
    public void ReservationUnlimited_ReservationsWithoutALimit_IsWrittenOnce() => RemoteExecutor.Invoke(static async () =>
    {
        using TestSetup limited = new(4, new MemoryAllocatorOptions { Name = "limited" }, budget: 4 * Block);
        using TestSetup setup = new(4, new MemoryAllocatorOptions { Name = "photos" });
        using MemoryReservation unheard = await setup.Allocator.ReserveAsync(Block);
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget);
        using MemoryReservation inBudget = await limited.Allocator.ReserveAsync(Block);
        using MemoryReservation first = await setup.Allocator.ReserveAsync(1000 * Block);
        using MemoryReservation second = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.True(setup.Allocator.TryReserve(Block, out MemoryReservation? third));
        third.Dispose();

        (string name, IReadOnlyDictionary<string, object?> written) = listener.TakeValues();

        Assert.Equal(("ReservationUnlimited", "photos"), (name, written["allocatorName"]));
        Assert.Equal(0, listener.Waiting);
    }).Dispose();

    // Without a minimum, a 16th of the container is left to the runtime, and a 200th to page tables.
    [Theory]
    [InlineData(0, 400 - 25 - 2)]
    [InlineData(100, 400 - 100)]
    public void BudgetWait_NoBudgetInAContainer_NamesWhatTheContainerAllows(int minimumFree, int limit) => RemoteExecutor.Invoke(
        static (minimumFree, limit) =>
        {
            const long Container = 400 * Block;
            FakeHeadroom left = new() { Now = new Headroom(Container, Container, Container) { HardBytes = Container } };
            using TestSetup setup = new(4, minimumFree: Block * long.Parse(minimumFree, CultureInfo.InvariantCulture), left: left);
            using MemoryReservation alone = setup.Allocator.ReserveAsync("thumbnails").AsTask().GetAwaiter().GetResult();
            using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget);
            Assert.False(setup.Allocator.TryReserve("other", out _));

            (string name, IReadOnlyDictionary<string, object?> began) = listener.TakeValues();

            Assert.Equal(
                ("BudgetWaitBegan", Block * long.Parse(limit, CultureInfo.InvariantCulture), alone.ReservedBytes),
                (name, began["limitBytes"], began["usedBytes"]));
        },
        minimumFree.ToString(CultureInfo.InvariantCulture),
        limit.ToString(CultureInfo.InvariantCulture)).Dispose();

    [Fact]
    public void BudgetWait_UntilThereIsRoom_SaysHowLong() => RemoteExecutor.Invoke(static async () =>
    {
        using TestSetup setup = new(4, budget: 4 * Block);
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(2 * Block);
        ValueTask<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(3 * Block);
        Assert.Equal("BudgetWaitBegan", listener.Take().EventName);
        setup.Clock.Advance(TimeSpan.FromSeconds(7));
        owner.Dispose();
        using IMemoryOwner<byte> late = await waiting;

        (string name, IReadOnlyDictionary<string, object?> ended) = listener.TakeValues();

        Assert.Equal(("BudgetWaitEnded", 7_000L, "Granted"), (name, ended["waitedMilliseconds"], ended["outcome"]));
    }).Dispose();

    [Fact]
    public void ReservationExceeded_JobTookMoreThanItReserved_IsWrittenOnceAtItsEnd() => RemoteExecutor.Invoke(static async () =>
    {
        using TestSetup setup = new(8, new MemoryAllocatorOptions { Name = "photos" }, budget: 8 * Block);
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget);
        using (MemoryReservation enough = await setup.Allocator.ReserveAsync(3 * Block))
        {
            enough.Allocate<byte>(3 * Block).Dispose();
        }

        MemoryReservation tooSmall = await setup.Allocator.ReserveAsync(Block);
        tooSmall.Allocate<byte>(3 * Block).Dispose();
        tooSmall.Allocate<byte>(2 * Block).Dispose();
        Assert.Equal(0, listener.Waiting);
        tooSmall.Dispose();
        tooSmall.Dispose();

        (string name, IReadOnlyDictionary<string, object?> exceeded) = listener.TakeValues();

        Assert.Equal(
            ("ReservationExceeded", (long)Block, 3L * Block, 2L, "photos"),
            (name, exceeded["reservedBytes"], exceeded["peakUsedBytes"], exceeded["overflowCount"], exceeded["allocatorName"]));
        Assert.Equal(0, listener.Waiting);
    }).Dispose();

    [Fact]
    public void BudgetWait_ListenerAllocates_DoesNotWait() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(4, new MemoryAllocatorOptions { BudgetTimeout = TimeSpan.FromSeconds(5) }, budget: 4 * Block);
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(3 * Block);
        bool wasServed = false;
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget, written =>
        {
            if (written.EventName == "BudgetWaitBegan")
            {
                setup.Allocator.Allocate<byte>(Block).Dispose();
                owner.Dispose();
                wasServed = true;
            }
        });
        setup.Allocator.Allocate<byte>(4 * Block).Dispose();

        Assert.True(wasServed);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }).Dispose();

    [Fact]
    public void Manifest_OfTheSource_HasEveryEventAndKeyword()
    {
        XNamespace events = "http://schemas.microsoft.com/win/2004/08/events";
        XDocument manifest = XDocument.Parse(EventSource.GenerateManifest(typeof(AllocatorEventSource), "Allocator")!);

        Assert.Equal("Allocator", EventSource.GetName(typeof(AllocatorEventSource)));
        Assert.Equal(
            Enumerable.Range(1, 16).Where(static id => id != 2),   // 2 was LeakFound, up to 0.2
            manifest.Descendants(events + "event")
                .Select(static e => int.Parse(e.Attribute("value")!.Value))
                .Where(static id => id is > 0 and < 65534)
                .Order());
        Assert.Equal(
            ["Trimming=0x1", "Memory=0x2", "Budget=0x4", "Rents=0x8"],
            manifest.Descendants(events + "keyword")
                .Select(static k => $"{k.Attribute("name")!.Value}={k.Attribute("mask")!.Value}")
                .Where(static k => !k.StartsWith("Session", StringComparison.Ordinal)));
    }

    private static void AssertNext(AllocatorEventListener listener, string expected, long bytes, long committedBytes)
    {
        (string name, IReadOnlyDictionary<string, object?> values) = listener.TakeValues();
        Assert.Equal(
            (expected, bytes, committedBytes, "photos"), (name, values["bytes"], values["committedBytes"], values["allocatorName"]));
    }
}

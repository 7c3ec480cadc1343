using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator.Tests.Budgeting;

public class ProcessHeadroomTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(1);

    private readonly FakeClock _clock = new();
    private readonly FakeHeadroom _left = new() { Now = new Headroom(1000, 300, 300) };
    private readonly ProcessHeadroom _headroom;

    public ProcessHeadroomTests() => _headroom = new ProcessHeadroom(_left, _clock);

    [Fact]
    public void TryGrant_MoreThanIsLeft_Refuses()
    {
        Assert.False(TryGrant(301));
        Assert.True(TryGrant(300));
        Assert.False(TryGrant(1));
    }

    [Fact]
    public void TryGrant_LimitNotHonored_Grants()
    {
        Assert.True(_headroom.TryGrant(301, 0, honorsLimit: false));
    }

    [Fact]
    public void TryGrant_AfterACancel_GrantsTheSameAgain()
    {
        Assert.True(TryGrant(300));
        _headroom.EndGrant(300, 0);
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_CommittedMemory_CountsUntilALaterReadingHasIt()
    {
        Grant(200);
        Assert.False(TryGrant(101));

        // The figures have it by then.
        _left.Now = new Headroom(1000, 100, 100);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.False(TryGrant(101));
        Assert.True(TryGrant(100));
    }

    [Fact]
    public void TryGrant_CommittedDuringAReading_StillCountsAfterIt()
    {
        Assert.True(TryGrant(100));
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        _left.OnRead = () =>
        {
            _headroom.EndGrant(100, 100);
            _left.OnRead = null;
            return new Headroom(1000, 300, 300);
        };
        Assert.True(TryGrant(200));
        Assert.False(TryGrant(1));
    }

    // Whatever the figures say: what is granted and not written to is not in them.
    [Fact]
    public void TryGrant_TotalAboveTheLimit_IsRefusedWhateverTheFigures()
    {
        const long Megabyte = 1 << 20;
        _left.Now = new Headroom(100 * Megabyte, 100 * Megabyte, 100 * Megabyte) { HardBytes = 100 * Megabyte };
        for (int i = 0; i < 9; i++)
        {
            Grant(10 * Megabyte);
            _clock.Advance(TimeSpan.FromSeconds(11));
        }

        // Page tables and the runtime get the last ones.
        Assert.False(TryGrant(10 * Megabyte));
        Assert.True(TryGrant(3 * Megabyte));
        _headroom.EndGrant(3 * Megabyte, 0);
        _headroom.Release(10 * Megabyte);
        Assert.True(TryGrant(10 * Megabyte));
    }

    [Theory]
    [InlineData(200, 187)]
    [InlineData(1000, 983)]
    public void TryGrant_EndOfTheLimit_IsKeptForPageTablesAndTheRuntime(long limitInMegabytes, long expectedInMegabytes)
    {
        _left.Now = new Headroom(limitInMegabytes << 20, limitInMegabytes << 20, limitInMegabytes << 20)
        {
            HardBytes = limitInMegabytes << 20,
        };
        Assert.False(TryGrant((expectedInMegabytes << 20) + 1));
        Assert.True(TryGrant(expectedInMegabytes << 20));
    }

    [Fact]
    public void TryGrant_FromFiveHundredThreads_GrantsNoMoreThanIsLeft()
    {
        long granted = 0;
        TestThreads.Run(500, _ => Interlocked.Add(ref granted, TryGrant(1) ? 1 : 0));
        Assert.Equal(300, granted);
    }

    [Fact]
    public void TryGrant_AnnouncedByOthers_CountsUntilReturnedOrTwoReadingsLater()
    {
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(_headroom.TryAnnounce(200, honorsLimit: true, out var announcement));
        Assert.False(_headroom.TryAnnounce(101, honorsLimit: true, out _));
        Assert.False(TryGrant(101));
        _headroom.Withdraw(announcement);
        Assert.True(TryGrant(101));
        _headroom.EndGrant(101, 0);

        Assert.True(_headroom.TryAnnounce(200, honorsLimit: true, out announcement));
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(TryGrant(101));
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(TryGrant(101));

        // It is in the figures now, and withdrawn only once.
        _headroom.EndGrant(101, 0);
        _headroom.Withdraw(announcement);
        Assert.False(TryGrant(301));
    }

    // By the sums it counts for as long as it is there.
    [Fact]
    public void TryGrant_AnnouncedLongAgo_CountsWithWhatWasGranted()
    {
        const long Megabyte = 1 << 20;
        _left.Now = new Headroom(108 * Megabyte, 108 * Megabyte, 108 * Megabyte) { HardBytes = 108 * Megabyte };
        Assert.True(_headroom.TryAnnounce(50 * Megabyte, honorsLimit: true, out var announcement));
        _clock.Advance(TimeSpan.FromMinutes(1));
        Assert.True(TryGrant(40 * Megabyte));
        _headroom.EndGrant(40 * Megabyte, 40 * Megabyte);
        _clock.Advance(TimeSpan.FromMinutes(1));
        Assert.False(TryGrant(11 * Megabyte));
        _headroom.Withdraw(announcement);
        Assert.True(TryGrant(60 * Megabyte));
    }

    [Fact]
    public void TryAnnounce_MoreThanExists_BlocksNothing()
    {
        for (int i = 0; i < 40; i++)
        {
            Assert.True(_headroom.TryAnnounce(long.MaxValue / 16, honorsLimit: false, out _));
        }

        Assert.True(TryGrant(1));
    }

    [Fact]
    public void Admits_ReservedLongAgo_CountsAgainstTheLimitWithoutAFigure()
    {
        _left.Now = new Headroom(1000, 1000, 1000);
        MemoryBudget budget = Register();
        for (int i = 0; i < 3; i++)
        {
            Assert.True(budget.TryTakeNow(300));
            _clock.Advance(TimeSpan.FromSeconds(11));
        }

        Assert.False(budget.TryTakeNow(300));
    }

    // Half of the container in arrays or in announced memory, and used: the other half can be rented.
    [Fact]
    public void Admits_HalfOfItCommittedAndUsed_TheOtherHalfFits()
    {
        _left.Now = new Headroom(1000, 1000, 1000);
        MemoryBudget budget = Register();
        Assert.True(budget.TryTakeNow(500));
        Commit(budget, 500);
        _left.Now = new Headroom(1000, 500, 500);
        _clock.Advance(TimeSpan.FromSeconds(10));
        Assert.True(budget.TryTakeNow(450));
        Assert.False(budget.TryTakeNow(1));
    }

    // A block of 400 of which 100 are rented: the figures contain no more than these.
    [Fact]
    public void Admits_BlockOfWhichAPartIsResident_CountsThatPart()
    {
        const long Megabyte = 1 << 20;
        _left.Now = Container(1000 * Megabyte);
        MemoryBudget budget = Register();
        Assert.True(budget.TryTakeNow(100 * Megabyte));
        Assert.True(budget.TryCount(400 * Megabyte));
        Grant(100 * Megabyte);
        _left.Now = Container(400 * Megabyte);
        _clock.Advance(TimeSpan.FromSeconds(10));
        Assert.False(budget.TryTakeNow(401 * Megabyte));
        using (_headroom.Lock.Enter())
        {
            // The runtime and page tables keep 17.
            Assert.Equal(383 * Megabyte, _headroom.LeftForJobs(budget));
        }

        Assert.True(budget.TryTakeNow(399 * Megabyte));

        Headroom Container(long free) => new(1000 * Megabyte, free, free) { HardBytes = 1000 * Megabyte };
    }

    // No file can be opened, for instance. What is committed and released meanwhile counts on balance.
    [Fact]
    public void TryGrant_ReadingsFail_CountsWhatWasCommittedSinceTheLastOne()
    {
        Grant(100);
        _left.Now = new Headroom(1000, 200, 200);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Grant(50);
        _left.OnRead = static () => throw new IOException("Too many open files");
        for (int i = 0; i < 5; i++)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(10));
            Grant(20);
            _clock.Advance(TimeSpan.FromMilliseconds(10));
            Assert.True(TryGrant(130));
            Assert.False(TryGrant(1));
            _headroom.EndGrant(130, 0);
            _headroom.Release(20);
        }

        _left.OnRead = null;
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.True(TryGrant(200));
    }

    [Fact]
    public void TryGrant_AdmittedWithItsCodecsMemory_IsNotRefusedForIt()
    {
        Assert.True(_headroom.TryAnnounce(200, honorsLimit: false, out _));
        Assert.True(_headroom.TryGrant(300, 0, honorsLimit: true, isAdmitted: true));
    }

    [Fact]
    public void TryGrant_MinimumFree_IsKept()
    {
        Assert.False(_headroom.TryGrant(201, minimumFreeBytes: 100, honorsLimit: true));
        Assert.True(_headroom.TryGrant(200, minimumFreeBytes: 100, honorsLimit: true));
    }

    [Fact]
    public void TryGrant_ReclaimableFilePages_RefuseNothing()
    {
        _left.Now = new Headroom(1000, FreeBytes: 0, CertainBytes: 300);
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_CalledOften_ReadsOncePerTenMilliseconds()
    {
        for (int i = 0; i < 100; i++)
        {
            Assert.True(TryGrant(1));
            _headroom.EndGrant(1, 1);
        }

        Assert.Equal(1, _left.Reads);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        TryGrant(1);
        Assert.Equal(2, _left.Reads);
    }

    [Fact]
    public void TryGrant_RefusedByOldFigures_ReadsNewOnesFirst()
    {
        Assert.True(TryGrant(1));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        _left.Now = new Headroom(1000, 600, 600);
        Assert.True(TryGrant(500));
    }

    [Fact]
    public void TryGrant_NoLimit_LooksForOneOnceASecond()
    {
        _left.Now = Headroom.Unknown;
        Assert.True(TryGrant(1L << 40));
        _left.Now = new Headroom(1000, 300, 300);
        _clock.Advance(TimeSpan.FromMilliseconds(999));
        Assert.True(TryGrant(1000));
        Assert.Equal(1, _left.Reads);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(TryGrant(1000));
    }

    [Fact]
    public void Admits_ClaimsOfAllBudgets_CountUnlessCommitted()
    {
        MemoryBudget first = Register();
        MemoryBudget second = Register();
        Assert.True(first.TryTakeNow(100));
        Assert.True(second.TryTakeNow(100));

        // 50 have to stay free.
        Assert.False(first.TryTakeNow(51));
        Assert.Equal(100, first.AdmittedBytes);

        // Committed, and used: the system's figures have it now.
        Commit(second, 100);
        _left.Now = new Headroom(1000, 200, 200);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.False(first.TryTakeNow(51));
        Assert.True(first.TryTakeNow(50));
    }

    [Fact]
    public void Admits_IdleMemory_ServesAnyClaim()
    {
        MemoryBudget budget = Register();
        Assert.True(budget.TryTakeNow(200));
        Commit(budget, 200);
        budget.Return(200);
        _left.Now = new Headroom(1000, 50, 50);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.True(budget.TryTakeNow(200));
        Assert.False(budget.TryTakeNow(1));
    }

    [Fact]
    public void Admits_NothingElseIsOutstanding_MayUseTheMinimumFree()
    {
        MemoryBudget budget = Register();
        Assert.True(budget.TryTakeNow(300));
        budget.Return(300);
        Assert.False(budget.TryTakeNow(301));
    }

    [Fact]
    public void Admits_BudgetOfADisposedAllocator_NoLongerCounts()
    {
        MemoryBudget first = Register();
        MemoryBudget second = Register();
        Assert.True(first.TryTakeNow(200));
        first.Close();
        Assert.True(second.TryTakeNow(250));
    }

    // A file that is slow must not keep a thread waiting that returns memory.
    [Fact]
    public void Return_WhileTheSystemIsRead_WaitsForNoFile()
    {
        MemoryBudget budget = Register();
        Assert.True(budget.TryTakeNow(100));
        BudgetRequest waits = new(budget, 250);
        budget.Post(waits);
        Assert.True(waits.IsWaiting);
        using ManualResetEventSlim isReading = new();
        using ManualResetEventSlim mayRead = new();
        _left.OnRead = () =>
        {
            isReading.Set();
            Assert.True(mayRead.Wait(s_patience));
            return new Headroom(1000, 300, 300);
        };
        _clock.Advance(TimeSpan.FromSeconds(1));
        Thread reader = new(() => _headroom.Read());
        reader.Start();
        Assert.True(isReading.Wait(s_patience));

        budget.Return(100);
        _headroom.EndGrant(0, 0);
        _headroom.Release(0);
        Assert.True(waits.IsGranted);

        mayRead.Set();
        Assert.True(reader.Join(s_patience));
    }

    private bool TryGrant(long bytes) => _headroom.TryGrant(bytes, 0, honorsLimit: true);

    private void Grant(long bytes)
    {
        Assert.True(TryGrant(bytes));
        _headroom.EndGrant(bytes, bytes);
    }

    private void Commit(MemoryBudget budget, long bytes)
    {
        Refusals refusals = default;
        AllocatorContext context = new(new AllocatorCounters(), _clock, new Quarantine(_clock), budget);
        Assert.True(Commitment.TryTake(context, bytes, grantsNow: true, ref refusals, out Commitment commitment));
        commitment.Commit(bytes);
    }

    private MemoryBudget Register()
    {
        MemoryBudget budget = new(long.MaxValue, _clock)
        {
            Headroom = _headroom,
            MinimumFreeBytes = 50,
            HonorsLimit = true,
        };
        _headroom.Register(budget);
        return budget;
    }
}

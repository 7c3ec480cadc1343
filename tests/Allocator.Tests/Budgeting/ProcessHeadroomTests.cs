using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator.Tests.Budgeting;

public class ProcessHeadroomTests
{
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
        _headroom.Cancel(300);
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_GrantedAndNotUsed_CountsThoughNoReadingHasIt()
    {
        Grant(0x10000, 200);
        _clock.Advance(TimeSpan.FromMilliseconds(500));
        Assert.False(TryGrant(101));
        Assert.True(TryGrant(100));
    }

    [Fact]
    public void TryGrant_GrantedAndUsed_CountsOnce()
    {
        Grant(0x10000, 200);
        _clock.Advance(TimeSpan.FromMilliseconds(500));
        _left.Now = new Headroom(1000, 100, 100);
        _left.Untouched = 0;
        Assert.False(TryGrant(101));
        Assert.True(TryGrant(100));
    }

    [Fact]
    public void TryGrant_NothingUsedForLong_TakesItThatTheRestIsNeverUsed()
    {
        Grant(0x10000, 200);
        _clock.Advance(TimeSpan.FromMilliseconds(RecentGrants.LifetimeMilliseconds - 1));
        Assert.False(TryGrant(300));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_UsedSlowly_CountsTheRestForAsLongAsItTakes()
    {
        Grant(0x10000, 200);
        for (int used = 20; used <= 180; used += 20)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(RecentGrants.LifetimeMilliseconds - 1));
            _left.Untouched = (200 - used) / 200.0;
            _left.Now = new Headroom(1000, 300 - used, 300 - used);
            Assert.False(TryGrant(101));
        }

        Assert.True(TryGrant(100));
    }

    [Fact]
    public void TryGrant_GrantedMemoryWentBack_NoLongerCounts()
    {
        Grant(0x10000, 200);
        _headroom.Forget(0x10000);
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_Arrays_CountUntilTheNextReading()
    {
        Grant(address: 0, 200);
        Assert.True(TryGrant(100));
        _headroom.Cancel(100);

        // The figures have them by then.
        _left.Now = new Headroom(1000, 100, 100);
        Assert.False(TryGrant(101));
        Assert.True(TryGrant(100));
    }

    [Fact]
    public void TryGrant_ManySmallGrants_DoNotPushOutTheLargeOne()
    {
        _left.Now = new Headroom(10_000, 1000, 1000);
        Grant(0x10000, 500);
        for (int i = 1; i <= 400; i++)
        {
            Grant(0x10000 + i, 1);
        }

        Assert.False(TryGrant(500));
    }

    [Fact]
    public void TryGrant_WhatOthersAnnounced_CountsUntilItIsBackOrLongEnoughToBeUsed()
    {
        Assert.True(_headroom.TryAnnounce(200, honorsLimit: true, out long announcement));
        Assert.False(_headroom.TryAnnounce(101, honorsLimit: true, out _));
        Assert.False(TryGrant(101));
        _headroom.Withdraw(announcement);
        Assert.True(TryGrant(101));
        _headroom.Cancel(101);
        Assert.True(_headroom.TryAnnounce(200, honorsLimit: true, out _));
        _clock.Advance(TimeSpan.FromMilliseconds(RecentGrants.LifetimeMilliseconds));
        Assert.True(TryGrant(101));
    }

    [Fact]
    public void TryGrant_AdmittedWithWhatItsCodecAnnounced_IsNotRefusedForIt()
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
    public void TryGrant_FilePagesThatMayGo_RefuseNothing()
    {
        _left.Now = new Headroom(1000, FreeBytes: 0, CertainBytes: 300);
        Assert.True(TryGrant(300));
    }

    [Fact]
    public void TryGrant_ManyInATime_ReadsOnceInTenMilliseconds()
    {
        for (int i = 0; i < 100; i++)
        {
            Assert.True(TryGrant(1));
            _headroom.Commit(0x10000 + i, 1);
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
    public void TryGrant_NoLimit_ReadsOnceASecondWhetherThereIsOneNow()
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
        _left.Untouched = 0;
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
        _left.Untouched = 0;
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.True(budget.TryTakeNow(200));
        Assert.False(budget.TryTakeNow(1));
    }

    [Fact]
    public void Admits_NothingElseIsOut_MayUseWhatHasToStayFree()
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
            mayRead.Wait();
            return new Headroom(1000, 300, 300);
        };
        _clock.Advance(TimeSpan.FromSeconds(1));
        Thread reader = new(() => _headroom.Read());
        reader.Start();
        isReading.Wait();

        budget.Return(100);
        _headroom.Commit(0x10000, 0);
        _headroom.Forget(0x10000);
        Assert.True(waits.IsGranted);

        mayRead.Set();
        reader.Join();
    }

    private bool TryGrant(long bytes) => _headroom.TryGrant(bytes, 0, honorsLimit: true);

    private void Grant(nint address, long bytes)
    {
        Assert.True(TryGrant(bytes));
        _headroom.Commit(address, bytes);
    }

    private void Commit(MemoryBudget budget, long bytes)
    {
        Refusals refusals = default;
        AllocatorContext context = new(new AllocatorCounters(), _clock, new Quarantine(_clock)) { Budget = budget };
        Assert.True(Commitment.TryTake(context, bytes, ref refusals, out Commitment commitment));
        commitment.Commit(0x10000, bytes);
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

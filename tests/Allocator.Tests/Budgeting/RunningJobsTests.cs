using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>
/// Which jobs begin, by name, in a container of 1000 MB, of which 983 can be used and 100 are used before the first job; and what they
/// teach. A claim of the allocator is at least 64 KiB.
/// </summary>
public class RunningJobsTests
{
    private const long Megabyte = 1 << 20;
    private const long Least = LearnedSize.Granularity;

    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_minute = TimeSpan.FromMinutes(1);

    private readonly FakeClock _clock = new();
    private readonly FakeHeadroom _left = new();
    private readonly ProcessHeadroom _headroom;
    private readonly MemoryBudget _container;

    public RunningJobsTests()
    {
        _headroom = new ProcessHeadroom(_left, _clock);
        Use(100);
        _container = CreateBudget();
    }

    // What is outstanding outside of jobs may stay so for good.
    [Theory]
    [InlineData(true, 0, 100)]
    [InlineData(true, 60, 70)]
    [InlineData(false, 0, 441.5)]
    [InlineData(false, 83, 400)]
    public void TryBegin_NothingIsKnown_ClaimsHalfOfWhatIsLeft(bool hasNumber, int outstanding, double expected)
    {
        MemoryBudget budget = hasNumber ? new MemoryBudget(200 * Megabyte, _clock) : _container;
        Assert.True(outstanding == 0 || budget.TryTake(outstanding * Megabyte, overtakes: false));
        Assert.Equal((long)(expected * Megabyte), Begin(budget, new LearnedJob("")).ClaimedBytes);
    }

    [Theory]
    [InlineData(0, 441, true)]
    [InlineData(0, 442, false)]
    [InlineData(441, 0, true)]
    [InlineData(442, 0, false)]
    [InlineData(200, 241, true)]
    [InlineData(200, 242, false)]
    public void TryBegin_BesideOne_NeedsTheBaseAndBothClaims(long allocated, long elsewhere, bool expected)
    {
        LearnedJob job = Learn(allocated, elsewhere);
        Begin(_container, job);
        Assert.Equal(expected, TryBegin(_container, job) is not null);
    }

    // In case one of them needs more than any before.
    [Theory]
    [InlineData(0, 220, true)]
    [InlineData(0, 221, false)]
    [InlineData(220, 0, true)]
    [InlineData(221, 0, false)]
    [InlineData(120, 100, true)]
    [InlineData(121, 100, false)]
    public void TryBegin_BesideTwo_NeedsExtraRoomForTheLargestClaim(long allocated, long elsewhere, bool expected)
    {
        LearnedJob job = Learn(allocated, elsewhere);
        Begin(_container, job);
        Begin(_container, job);
        Assert.Equal(expected, TryBegin(_container, job) is not null);
    }

    [Theory]
    [InlineData(880, true)]
    [InlineData(879, false)]
    public void TryBegin_BesideTwoOfABudget_NeedsExtraRoomForTheLargestClaim(long limit, bool expected)
    {
        MemoryBudget budget = new(limit * Megabyte, _clock);
        LearnedJob job = Learn(220, 0);
        Begin(budget, job);
        Begin(budget, job);
        Assert.Equal(expected, TryBegin(budget, job) is not null);
    }

    // A small one beside two large ones: 40 + 2 * 200, and 200 once more.
    [Theory]
    [InlineData(640, true)]
    [InlineData(639, false)]
    public void TryBegin_SmallBesideTwoLarge_NeedsExtraRoomForTheLargeClaim(long limit, bool expected)
    {
        MemoryBudget budget = new(limit * Megabyte, _clock);
        LearnedJob large = Learn(200, 0);
        Begin(budget, large);
        Begin(budget, large);
        Assert.Equal(expected, TryBegin(budget, Learn(40, 0)) is not null);
    }

    // A large one beside a large and a small one: 400 + 49 + 400. One of 50 counts.
    [Theory]
    [InlineData(49, 849, true)]
    [InlineData(49, 848, false)]
    [InlineData(50, 1249, false)]
    [InlineData(50, 1250, true)]
    public void TryBegin_LargeBesideALargeAndASmallOne_NeedsNoExtraRoom(int small, long limit, bool expected)
    {
        MemoryBudget budget = new(limit * Megabyte, _clock);
        LearnedJob large = Learn(400, 0);
        Begin(budget, large);
        Begin(budget, Learn(small, 0));
        Assert.Equal(expected, TryBegin(budget, large) is not null);
    }

    [Fact]
    public void TryBegin_BesideReservationsOfGivenBytes_NeedsNoExtraRoom()
    {
        MemoryBudget budget = new(300 * Megabyte, _clock);
        BegunAccount.Of(budget, 100 * Megabyte);
        BegunAccount.Of(budget, 100 * Megabyte);
        Assert.Equal(100 * Megabyte, Begin(budget, Learn(100, 0)).ClaimedBytes);
    }

    [Fact]
    public void TryBegin_FirstIsLargerThanTheRoom_BeginsAloneWithAllThatIsLeft()
    {
        MemoryBudget budget = new(100 * Megabyte, _clock);
        Assert.True(budget.TryTake(30 * Megabyte, overtakes: false));
        LearnedJob large = Learn(2000, 0);
        ReservationAccount first = Begin(budget, large);
        Assert.Equal(70 * Megabyte, first.ClaimedBytes);
        Assert.Null(TryBegin(budget, Learn(1, 0)));
        first.Close();
        Assert.Equal(30 * Megabyte, budget.AdmittedBytes);

        ReservationAccount elsewhere = Begin(_container, Learn(0, 2000));
        Assert.Null(TryBegin(_container, Learn(0, 1)));
        elsewhere.Close();
        Begin(_container, Learn(0, 1));
    }

    [Fact]
    public void TryBegin_LargerThanTheRoomAndNotTheFirst_Waits()
    {
        MemoryBudget budget = new(100 * Megabyte, _clock);
        ReservationAccount small = Begin(budget, Learn(1, 0));
        LearnedJob large = Learn(2000, 0);
        Assert.Null(TryBegin(budget, large));
        small.Close();
        Begin(budget, large);
    }

    // A stream that holds a reservation for hours. Scaled up from an icon, the claim of a photograph is beyond any room; it would wait for
    // the stream's end, and everything behind it would wait too.
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, false)]
    public void TryBegin_LargerThanTheRoomBesideALongRunningJob_BeginsWithAllThatIsLeft(bool hasNumber, bool isGiven)
    {
        MemoryBudget budget = hasNumber ? new(100 * Megabyte, _clock) : _container;
        LearnedJob job = hasNumber ? Learn(1, 0, size: 2) : Learn(0, 1, size: 2);
        _ = isGiven ? BegunAccount.Of(budget, Megabyte) : Begin(budget, Learn(1, 0));
        Assert.Null(TryBegin(budget, job, size: 2000));
        _clock.Advance(s_minute);
        ReservationAccount? begun = TryBegin(budget, job, size: 2000);
        Assert.NotNull(begun);
        Assert.Equal(hasNumber ? 99 * Megabyte : Least, begun.ClaimedBytes);
    }

    // Twice the room cannot fit later either. A need that fits once the other has ended waits for that.
    [Theory]
    [InlineData(200, true)]
    [InlineData(100, false)]
    public void TryBegin_KnownNeedBesideALongRunningJob_WaitsIfItFitsLater(long allocated, bool expected)
    {
        MemoryBudget budget = new(100 * Megabyte, _clock);
        ReservationAccount stream = Begin(budget, Learn(1, 0));
        ReservationAccount ofContainer = Begin(_container, Learn(0, 20));
        _clock.Advance(s_minute);
        Assert.Equal(expected, TryBegin(budget, Learn(allocated, 0)) is not null);
        stream.Close();
        Assert.Equal(expected, TryBegin(_container, Learn(0, (allocated * 10) - 25)) is not null);
        ofContainer.Close();
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(11, 2)]
    [InlineData(12, 3)]
    [InlineData(16, 4)]
    [InlineData(400, 100)]
    public void TryBegin_OfOneSize_AtMostAQuarterOfThoseThatEndedRunAtOnce(int ended, int expected)
    {
        MemoryBudget budget = new(10_000 * Megabyte, _clock);
        LearnedJob job = Learn(1, 0, ended);
        List<ReservationAccount> running = [];
        while (TryBegin(budget, job) is { } begun)
        {
            running.Add(begun);
        }

        Assert.Equal(expected, running.Count);
        Assert.NotNull(TryBegin(budget, job, size: 2));
        running[0].Close();
        Assert.NotNull(TryBegin(budget, job));
    }

    // Whatever others need: what it takes elsewhere could not be told from theirs.
    [Fact]
    public void TryBegin_FirstTwoOfASizeInAContainer_RunAlone()
    {
        LearnedJob job = new("");
        LearnedJob known = Learn(1, 1);
        for (int i = 0; i < 2; i++)
        {
            ReservationAccount other = Begin(_container, known);
            Assert.Null(TryBegin(_container, job));
            other.Close();
            ReservationAccount alone = Begin(_container, job);
            Assert.Null(TryBegin(_container, job));
            Assert.Null(TryBegin(_container, known));
            alone.Close();
            _container.ReadBase();
        }

        Begin(_container, known);
        Begin(_container, job);
        Begin(_container, job);
    }

    [Fact]
    public void TryBegin_FirstOfASizeRunsForASecond_NoLongerHoldsUpOthers()
    {
        LearnedJob job = new("");
        LearnedJob known = Learn(1, 1);
        Begin(_container, job);
        _clock.Advance(s_second - TimeSpan.FromMilliseconds(1));
        Assert.Null(TryBegin(_container, known));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        ReservationAccount other = Begin(_container, known);
        Assert.Null(TryBegin(_container, job));
        other.Close();
        Assert.Null(TryBegin(_container, job));
        _clock.Advance(9 * s_second);
        Begin(_container, job);
    }

    // Half of what the first left it would be too small for the same job.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void TryBegin_SecondOfAnUnknownName_WaitsTenSecondsForTheEndOfTheFirst(bool hasNumber)
    {
        MemoryBudget budget = hasNumber ? new MemoryBudget(200 * Megabyte, _clock) : _container;
        LearnedJob job = new("");
        ReservationAccount first = Begin(budget, job);
        _clock.Advance(10 * s_second - TimeSpan.FromMilliseconds(1));
        Assert.Null(TryBegin(budget, job));
        Assert.Null(TryBegin(budget, job, size: 100));
        Begin(budget, new LearnedJob("")).Close();
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(first.ClaimedBytes / 2, Begin(budget, job).ClaimedBytes);
    }

    // Each begins beside one that has run for a second, so none is ever alone.
    [Theory]
    [InlineData(11, false)]
    [InlineData(12, true)]
    public void TryBegin_NoneWasAloneYet_BeginsOnceTwelveHaveEnded(int ended, bool expected)
    {
        LearnedJob job = new("");
        for (int i = 0; i < ended; i++)
        {
            job.Of(1).End(1, 0, Megabyte, isSolo: false, isRefused: false);
        }

        job.Of(1).Seen = ended;
        Begin(_container, job);
        Assert.Equal(expected, TryBegin(_container, job) is not null);
    }

    // They say nothing of what the name takes elsewhere.
    [Fact]
    public void TryBegin_OnlyPartsOfOtherJobsHaveEnded_RunsAlone()
    {
        LearnedJob job = new("");
        ReservationAccount outer = BegunAccount.Of(_container, 10 * Megabyte);
        for (int i = 0; i < 100; i++)
        {
            ReservationAccount part = new(outer, new RunningJob(job.Of(1), 1));
            Assert.True(part.TryBegin(overtakes: false));
            part.Close();
        }

        outer.Close();
        Begin(_container, job);
        Assert.Null(TryBegin(_container, job));
    }

    [Fact]
    public void TryBegin_GivenBytesWhileAJobRunsAlone_Begins()
    {
        Begin(_container, new LearnedJob(""));
        Assert.Equal(Megabyte, BegunAccount.Of(_container, Megabyte).ReservedBytes);
    }

    [Fact]
    public void TryBegin_UnknownNamesWithoutAContainer_BeginOneAtATimeForASecond()
    {
        MemoryBudget budget = new(200 * Megabyte, _clock);
        ReservationAccount first = Begin(budget, new LearnedJob(""));
        LearnedJob second = new("");
        Assert.Null(TryBegin(budget, second));
        Begin(budget, Learn(1, 0)).Close();
        _clock.Advance(s_second);
        Assert.Equal((100 * Megabyte, 50 * Megabyte), (first.ClaimedBytes, Begin(budget, second).ClaimedBytes));
    }

    [Fact]
    public void TryBegin_WhileARequestWaits_IsRefusedUnlessItOvertakes()
    {
        MemoryBudget budget = new(32 * Megabyte, _clock);
        LearnedJob job = Learn(4, 0);
        Assert.True(budget.TryTake(16 * Megabyte, overtakes: false));
        BudgetRequest waiting = new(budget, 20 * Megabyte);
        budget.Post(waiting);
        Assert.Null(TryBegin(budget, job));
        Assert.True(budget.TryCancel(waiting));
        Begin(budget, job);
    }

    [Fact]
    public void End_JobRanAlone_LearnsItsExactPeakElsewhere()
    {
        LearnedJob job = new("");
        Teach(job, 100, 180, 100);
        Assert.Equal((1L, 80 * Megabyte, 0L), (job.Jobs, job.ElsewhereBytes, job.LearnedBytes));
        Teach(job, 100, 150, 100);
        Assert.Equal((2L, 50 * Megabyte, 0L), (job.Jobs, job.ElsewhereBytes, job.LearnedBytes));
    }

    [Fact]
    public void End_NeedsMostAfterHalfAMinute_LearnsThat()
    {
        LearnedJob job = new("");
        ReservationAccount account = Begin(_container, job);
        Use(120);
        _clock.Advance(s_minute / 2);
        Use(300);
        account.Close();
        Assert.Equal(200 * Megabyte, job.ElsewhereBytes);
    }

    // One that begins beside a slow decoder, which has its peak just then, takes none of that.
    [Fact]
    public void End_BesideASlowJobAtItsPeak_IsNotTaughtWhatThatOneTook()
    {
        LearnedJob large = Learn(0, 20);
        LearnedJob small = Learn(0, 1);
        ReservationAccount slow = Begin(_container, large);
        Use(120);
        _clock.Advance(s_minute / 2);
        Use(120);
        ReservationAccount other = Begin(_container, small);
        Use(400);
        other.Close();
        Use(100);
        slow.Close();
        Assert.InRange(large.ElsewhereBytes, 250 * Megabyte, 300 * Megabyte);
        Assert.InRange(small.ElsewhereBytes, 0, 20 * Megabyte);
    }

    // All that is used then is the use of others, for want of a base.
    [Fact]
    public void Observe_TheLimitComesWhileAJobRuns_TheJobIsNotTaughtAll()
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Megabyte, 900 * Megabyte, 900 * Megabyte) };
        ProcessHeadroom headroom = new(left, _clock);
        MemoryBudget budget = new(500 * Megabyte, _clock) { Headroom = headroom, HonorsLimit = true };
        headroom.Register(budget);
        ReservationAccount job = Begin(budget, new LearnedJob(""));
        left.Now = new Headroom(1000 * Megabyte, 400 * Megabyte, 400 * Megabyte) { HardBytes = 1000 * Megabyte };
        _clock.Advance(s_second);
        headroom.Measure();
        Assert.Equal(0, job.PeakElsewhereBytes);
    }

    // Its owner has disposed the allocator, and the memory is still used.
    [Fact]
    public void TryBegin_ADisposedAllocatorHasOutstandingMemory_IsCounted()
    {
        MemoryBudget disposed = CreateBudget();
        Assert.True(disposed.TryCount(300 * Megabyte));
        disposed.ReadIdleBytes = static () => 0;
        disposed.ReadUncounted();
        Grant(300);
        Use(400);
        Begin(_container, Learn(0, 300));
        disposed.Close();
        Assert.Null(TryBegin(_container, Learn(0, 300)));
    }

    // A phase with much garbage must not take its room for good.
    [Fact]
    public void TryBegin_MuchGarbageMinutesAgo_IsForgotten()
    {
        Use(100 + 300, garbage: 300);
        ReservationAccount during = Begin(_container, new LearnedJob(""));
        Assert.Equal(291.5 * Megabyte, during.ClaimedBytes);
        during.Close();
        _clock.Advance(TimeSpan.FromMinutes(5));
        Use(100);
        _clock.Advance(TimeSpan.FromMinutes(5));
        Use(100);
        Assert.Equal(441.5 * Megabyte, Begin(_container, new LearnedJob("")).ClaimedBytes);
    }

    [Fact]
    public void TryBegin_MuchGarbageHoursAgoAndNoReadingSince_IsForgotten()
    {
        Use(100 + 300, garbage: 300);
        Use(100);
        _clock.Advance(TimeSpan.FromHours(4));
        Use(100);
        Assert.Equal(441.5 * Megabyte, Begin(_container, new LearnedJob("")).ClaimedBytes);
    }

    // A cache of results, made by jobs that have ended.
    [Fact]
    public void ReadUncounted_MemoryHasOutlivedItsJob_IsCountedOnce()
    {
        _container.ReadIdleBytes = static () => 0;
        ReservationAccount account = Begin(_container, Learn(60, 0));
        Assert.True(account.TryTake(60 * Megabyte, overtakes: false));
        Assert.True(_container.TryCount((60 + 7) * Megabyte));
        account.Close();
        _container.ReadUncounted();
        Assert.Equal((60 * Megabyte, 7 * Megabyte), (_container.AdmittedBytes, _container.UncountedBytes));
    }

    // Two jobs at once would count it twice.
    [Fact]
    public void TryBegin_TheFirstHasLeftMemoryBehind_WaitsUntilThatIsInTheBase()
    {
        LearnedJob job = new("");
        ReservationAccount first = Begin(_container, job);
        Use(100 + 80);
        Use(100 + 40);
        first.Close();
        Assert.Null(TryBegin(_container, job));
        _container.ReadBase();
        Assert.Equal(140 * Megabyte, ReadBase());
        ReservationAccount second = Begin(_container, job);
        Use(140 + 80);
        Assert.Equal(80 * Megabyte, second.PeakElsewhereBytes);
        second.Close();
        _container.ReadBase();
        Assert.Equal(80 * Megabyte, job.ElsewhereBytes);
    }

    // Else the next one's need is measured from a base with garbage of the last one, and is too small by what is collected meanwhile.
    [Fact]
    public void ReadBase_AfterTheFirstJobsOfASize_CollectsTheirGarbage()
    {
        int collections = 0;
        MemoryBudget budget = CreateBudget(collect: () =>
        {
            collections++;
            Use(100);
        });
        LearnedJob job = new("");
        for (int i = 1; i <= 3; i++)
        {
            ReservationAccount running = Begin(budget, job);
            Use(100 + 80);
            Use(100 + 34);
            running.Close();
            _clock.Advance(TimeSpan.FromSeconds(10));
            budget.ReadBase();
            Assert.Equal(Math.Min(i, 2), collections);
        }

        Assert.Equal(80 * Megabyte, job.ElsewhereBytes);
    }

    // The last job ends just then: nothing is outstanding any more, but those that wait for the base have room.
    [Fact]
    public void DoWork_TheLastJobEndsWhileRoomIsMade_RefusesNoneThatWaitsForTheBase()
    {
        ReservationAccount? first = null;
        MemoryBudget budget = CreateBudget(trimHeap: _ => first!.Close());
        LearnedJob job = new("");
        first = Begin(budget, job);
        BudgetRequest[] others =
        [
            .. Enumerable.Range(0, 3).Select(_ => new BudgetRequest(
                budget, Least, begins: new ReservationAccount(budget, new RunningJob(job.Of(1), 1)))),
        ];
        Array.ForEach(others, other => budget.Post(other));

        ((IBackgroundWork)budget).DoWork();

        // The background thread looks again, and may have read the base by now.
        Assert.All(others, other => Assert.NotEqual(BudgetOutcome.NoRoom, other.Outcome));
        budget.ReadBase();
        Assert.True(others[0].IsGranted);
    }

    // A job whose claim is given does not wait, and nothing says that it ends.
    [Fact]
    public void TryBegin_TheBaseCannotBeRead_WaitsForASecond()
    {
        LearnedJob job = new("");
        ReservationAccount first = Begin(_container, job);
        first.Close();
        ReservationAccount given = new(_container, new RunningJob(Megabyte));
        Assert.True(given.TryBegin(overtakes: false));
        _container.ReadBase();
        Assert.Null(TryBegin(_container, job));
        _clock.Advance(s_second);
        Begin(_container, job);
    }

    // Jobs that run one after another never leave a second without any.
    [Theory]
    [InlineData(9, 100)]
    [InlineData(10, 130)]
    public void End_JobsRunOneAfterAnother_TheBaseIsReadAfterTenSeconds(int seconds, int expected)
    {
        LearnedJob job = new("");
        Teach(job, 100);
        Teach(job, 100);
        ReservationAccount third = Begin(_container, job);
        Use(130);
        _clock.Advance(TimeSpan.FromSeconds(seconds) - TimeSpan.FromMilliseconds(20));
        third.Close();
        _container.ReadBase();
        Assert.Equal(expected * Megabyte, ReadBase());
    }

    // The library's own memory and garbage are no use elsewhere, nor is what the container used before.
    [Fact]
    public void End_MemoryOfTheLibraryAndGarbage_AreNotElsewhere()
    {
        LearnedJob job = new("");
        ReservationAccount account = Begin(_container, job);
        Assert.True(account.TryTake(60 * Megabyte, overtakes: false));
        Grant(60);
        Use(100 + 60 + 40 + 7, garbage: 40);
        Assert.Equal(7 * Megabyte, account.PeakElsewhereBytes);
        _headroom.Release(60 * Megabyte);
        account.Return(60 * Megabyte);
        account.Close();
        Assert.Equal(new JobClaim(60 * Megabyte, 7 * Megabyte), job.Of(1).ClaimOf(1));
    }

    [Fact]
    public void End_MemoryAnnouncedByOtherCode_IsNotElsewhere()
    {
        LearnedJob job = new("");
        ReservationAccount account = Begin(_container, job);
        Assert.True(_headroom.TryAnnounce(60 * Megabyte, honorsLimit: true, out (long Bytes, long Period) announced));
        Use(100 + 60 + 7);
        Assert.Equal(7 * Megabyte, account.PeakElsewhereBytes);
        _headroom.Withdraw(announced);
    }

    // In proportion to what they claim: 300 of 100 and 50.
    [Fact]
    public void Observe_TwoRunTogether_SharesRaiseClaims()
    {
        LearnedJob large = Learn(0, 100);
        LearnedJob small = Learn(0, 50);
        ReservationAccount one = Begin(_container, large);
        ReservationAccount other = Begin(_container, small);
        Use(400);
        Assert.Equal((200 * Megabyte, 100 * Megabyte), (one.PeakElsewhereBytes, other.PeakElsewhereBytes));
        one.Close();
        other.Close();
        Assert.Equal((200 * Megabyte, 100 * Megabyte), (large.ElsewhereBytes, small.ElsewhereBytes));
    }

    [Fact]
    public void Observe_TwoRunTogether_SharesNeverLowerClaims()
    {
        LearnedJob job = Learn(0, 100);
        for (int i = 0; i < 100; i++)
        {
            ReservationAccount one = Begin(_container, job);
            ReservationAccount other = Begin(_container, job);
            Use(160);
            Assert.Equal((30 * Megabyte, 30 * Megabyte), (one.PeakElsewhereBytes, other.PeakElsewhereBytes));
            one.Close();
            other.Close();
            Use(100);
        }

        Assert.Equal((264L, 100 * Megabyte), (job.Jobs, job.ElsewhereBytes));
    }

    // One began before it was known that such jobs take 100.
    [Fact]
    public void Observe_AJobOfTheNameHasNeededMoreMeanwhile_SharesUseTheNewClaim()
    {
        LearnedJob job = Learn(0, 50);
        ReservationAccount one = Begin(_container, job);
        job.Of(1).End(1, 0, 100 * Megabyte, isSolo: false, isRefused: false);
        ReservationAccount other = Begin(_container, job);
        Use(300);
        Assert.Equal((100 * Megabyte, 100 * Megabyte), (one.PeakElsewhereBytes, other.PeakElsewhereBytes));
    }

    // What is known of the others is theirs.
    [Fact]
    public void Observe_UnknownJobBesideAKnownOne_GetsTheRest()
    {
        LearnedJob unknown = new("");
        ReservationAccount first = Begin(_container, unknown);
        _clock.Advance(s_second);
        ReservationAccount known = Begin(_container, Learn(0, 100));
        Use(100 + 100 + 40);
        Assert.Equal((40 * Megabyte, 100 * Megabyte), (first.PeakElsewhereBytes, known.PeakElsewhereBytes));
    }

    [Fact]
    public void Observe_ReservationOfGivenBytesBesideAJob_HasNoShare()
    {
        ReservationAccount given = BegunAccount.Of(_container, Megabyte);
        ReservationAccount job = Begin(_container, Learn(0, 100));
        Use(180);
        Assert.Equal((0L, 80 * Megabyte), (given.PeakElsewhereBytes, job.PeakElsewhereBytes));
    }

    [Fact]
    public void Base_NoJobRuns_FallsAtOnceAndRisesAfterASecond()
    {
        Assert.Equal(100 * Megabyte, ReadBase());
        ReservationAccount job = Begin(_container, Learn(0, 50));
        Use(90);
        Assert.Equal(100 * Megabyte, ReadBase());
        job.Close();
        Use(90);
        Assert.Equal(90 * Megabyte, ReadBase());
        Use(150);
        Assert.Equal(90 * Megabyte, ReadBase());
        _clock.Advance(s_second);
        Use(150);
        Assert.Equal(150 * Megabyte, ReadBase());
    }

    // A stream, perhaps. It has what it has.
    [Fact]
    public void Base_OnlyALongRunningJobRuns_IsReadAnyway()
    {
        ReservationAccount stream = Begin(_container, Learn(0, 50));
        _clock.Advance(s_minute - s_second);
        Use(130);
        Assert.Equal(100 * Megabyte, ReadBase());
        _clock.Advance(s_second);
        Use(130);
        Assert.Equal(130 * Megabyte, ReadBase());
        stream.Close();
    }

    [Fact]
    public void TryGrant_JobsHaveNotTakenTheirClaimsElsewhere_KeepsTheRestForThem()
    {
        ReservationAccount job = Begin(_container, Learn(0, 400));
        ExpectGrants(883 - 400);
        Use(400);
        ExpectGrants(583 - 100);
        job.Close();
        Use(100);
        ExpectGrants(883);

        void ExpectGrants(long megabytes)
        {
            Assert.False(_headroom.TryGrant((megabytes + 1) * Megabyte, minimumFreeBytes: 0, honorsLimit: true));
            Assert.True(_headroom.TryGrant(megabytes * Megabyte, minimumFreeBytes: 0, honorsLimit: true));
            _headroom.EndGrant(megabytes * Megabyte, 0);
        }
    }

    // 100 in use, 400 kept for the job, and 50 that stay free.
    [Fact]
    public void TryTake_JobsHaveNotTakenTheirClaimsElsewhere_KeepsTheRestForThem()
    {
        MemoryBudget requests = CreateBudget(minimumFree: 50);
        Begin(_container, Learn(0, 400));
        Assert.False(requests.TryTakeNow(450 * Megabyte));
        Assert.True(requests.TryTakeNow(449 * Megabyte));
    }

    // One container, two allocators.
    [Fact]
    public void TryBegin_JobsOfAnotherAllocatorRun_CountsTheirClaims()
    {
        MemoryBudget other = CreateBudget();
        LearnedJob job = Learn(100, 200);
        ReservationAccount first = Begin(other, job);
        Assert.Null(TryBegin(_container, Learn(284, 300)));
        Begin(_container, Learn(283, 300));
        first.Close();
        Begin(other, job);
    }

    // It would wait for the one that waits for it.
    [Fact]
    public void TryTake_BeyondTheClaimWithoutANumberWhileJobsWait_IsGranted()
    {
        ReservationAccount running = Begin(_container, Learn(1, 1));
        BudgetRequest waiting = new(
            _container, Least, begins: new ReservationAccount(_container, new RunningJob(Learn(0, 900).Of(1), 1)));
        _container.Post(waiting);
        Assert.True(waiting.IsWaiting);
        Assert.True(running.TryTake(50 * Megabyte, overtakes: false));
        running.Return(50 * Megabyte);
        running.Close();
        Assert.True(waiting.IsGranted);
    }

    [Fact]
    public void Close_RequestsThatNeverBegan_LeaveNothing()
    {
        LearnedJob job = Learn(0, 500);
        ReservationAccount running = Begin(_container, job);
        ReservationAccount cancelled = Post(out BudgetRequest first);
        ReservationAccount closed = Post(out BudgetRequest second);
        Assert.True(_container.TryCancel(first));
        cancelled.Close();
        _container.Close();
        Assert.Equal(BudgetOutcome.Closed, second.Outcome);
        closed.Close();
        running.Close();
        Assert.Equal((65L, 0, 0L), (job.Jobs, _headroom.Running.Count, _container.AdmittedBytes));
        using (_container.Lock.Enter())
        {
            Assert.Equal((0L, 0), (_container.ReservedBytes, job.Of(1).Running));
        }

        ReservationAccount Post(out BudgetRequest request)
        {
            ReservationAccount account = new(_container, new RunningJob(job.Of(1), 1));
            request = new BudgetRequest(_container, Least, begins: account);
            _container.Post(request);
            Assert.True(request.IsWaiting);
            return account;
        }
    }

    // A part of another job is no job of its own until it begins.
    [Fact]
    public void Close_PartOfAJobThatNeverBegan_TeachesNothing()
    {
        MemoryBudget budget = new(100 * Megabyte, _clock);
        ReservationAccount outer = BegunAccount.Of(budget, 60 * Megabyte);
        LearnedJob job = Learn(80, 0, jobs: 1);
        ReservationAccount inner = new(outer, new RunningJob(job.Of(1), 1));
        Assert.True(budget.TryTake(40 * Megabyte, overtakes: false));
        Assert.False(inner.TryBegin(overtakes: false));
        inner.Close();
        Assert.Equal((1L, 60 * Megabyte), (job.Jobs, outer.RemainingBytes));
    }

    // As its grants would be, however long ago the container was read.
    [Fact]
    public void Sample_WhileNamedJobsRun_ReadsTheContainerAgainAndAgain()
    {
        ReservationAccount given = BegunAccount.Of(_container, Megabyte);
        _headroom.Sample();
        Assert.Equal(0, _clock.RunningTimers);
        given.Close();
        ReservationAccount solo = Begin(_container, Learn(0, 1));
        _headroom.Sample();
        Assert.Equal(TimeSpan.FromMilliseconds(5), _clock.NextTimer);
        ReservationAccount other = Begin(_container, Learn(0, 1));
        _clock.Advance(TimeSpan.FromMilliseconds(5));
        Assert.Equal(TimeSpan.FromMilliseconds(20), _clock.NextTimer);
        solo.Close();
        other.Close();
        _clock.Advance(TimeSpan.FromMilliseconds(20));
        Assert.Equal(0, _clock.RunningTimers);
    }

    // What a stream takes is in the base by then.
    [Fact]
    public void Sample_AJobRunsForAMinute_NoLongerReadsTheContainer()
    {
        Begin(_container, Learn(0, 1));
        _clock.Advance(s_minute - s_second);
        _headroom.Sample();
        Assert.Equal(1, _clock.RunningTimers);
        _clock.Advance(s_second);
        Assert.Equal(0, _clock.RunningTimers);
    }

    private static LearnedJob Learn(long allocated, long elsewhere, int jobs = 64, long size = 1)
    {
        LearnedJob job = new("");
        for (int i = 0; i < jobs; i++)
        {
            job.Of(size).End(size, allocated * Megabyte, elsewhere * Megabyte, isSolo: true, isRefused: false);
        }

        return job;
    }

    private static ReservationAccount? TryBegin(MemoryBudget budget, LearnedJob job, long size = 1) =>
        BegunAccount.TryByName(budget, job, size);

    private static ReservationAccount Begin(MemoryBudget budget, LearnedJob job)
    {
        ReservationAccount? begun = TryBegin(budget, job);
        Assert.NotNull(begun);
        return begun;
    }

    private MemoryBudget CreateBudget(long minimumFree = 0, Action? collect = null, Action<bool>? trimHeap = null)
    {
        MemoryBudget budget = new(clock: _clock)
        {
            Headroom = _headroom,
            MinimumFreeBytes = minimumFree * Megabyte,
            HonorsLimit = true,
            Collect = collect,
            TrimHeap = trimHeap,
        };
        _headroom.Register(budget);
        return budget;
    }

    // What the container says it uses, and reads a moment later.
    private void Use(long megabytes, long garbage = 0)
    {
        long free = (1000 - megabytes) * Megabyte;
        _left.Now = new Headroom(1000 * Megabyte, free, free) { HardBytes = 1000 * Megabyte };
        _left.Garbage = garbage * Megabyte;
        _clock.Advance(TimeSpan.FromMilliseconds(20));
        _headroom.Measure();
    }

    private void Grant(long megabytes)
    {
        Assert.True(_headroom.TryGrant(megabytes * Megabyte, minimumFreeBytes: 0, honorsLimit: true));
        _headroom.EndGrant(megabytes * Megabyte, megabytes * Megabyte);
    }

    private void Teach(LearnedJob job, params long[] uses)
    {
        ReservationAccount account = Begin(_container, job);
        foreach (long use in uses)
        {
            Use(use);
        }

        account.Close();
        _container.ReadBase();
    }

    private long ReadBase()
    {
        using ShortLock.Section section = _headroom.Lock.Enter();
        return _headroom.Running.BaseBytes;
    }
}

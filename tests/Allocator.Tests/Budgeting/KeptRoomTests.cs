using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>For whom room is kept, and for how long: others wait meanwhile. In a budget of 200 MB.</summary>
public class KeptRoomTests
{
    private const long Megabyte = 1 << 20;
    private const int Overtakes = BudgetQueue.MaximumOvertakes;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_minute = TimeSpan.FromMinutes(1);

    private readonly FakeClock _clock = new();
    private readonly MemoryBudget _budget;

    public KeptRoomTests() => _budget = new MemoryBudget(200 * Megabyte, _clock);

    // Two of a size run at once until twelve have ended. Memory would not help the third, nor those behind it.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(40)]
    public void Post_FirstInLineWaitForTheEndOfOneOfTheirSize_AllOthersPass(int waiting)
    {
        BudgetRequest third = PostThirdStream(out ReservationAccount one, waiting);

        Assert.Equal(100, CountServed(100));

        one.Close();
        Assert.True(third.IsGranted);
    }

    // Nor would it help the second of a new name, for which the first runs alone.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(40)]
    public void Post_FirstInLineWaitForTheFirstOfTheirName_AllOthersPass(int waiting)
    {
        LearnedJob job = new("");
        ReservationAccount? first = BegunAccount.TryByName(_budget, job);
        BudgetRequest second = PostByName(job, waiting);

        Assert.Equal(100, CountServed(100));

        Assert.True(second.IsWaiting);
        first!.Close();
        Assert.True(second.IsGranted);
    }

    // Growth goes ahead of all others. What it waits for may stay, too: a stream. For a minute the job that grows may be about to end.
    [Theory]
    [InlineData(120)]
    [InlineData(180)]
    public void Post_GrowthLacksMemoryThatStays_AsManyPassAgain(long megabytes)
    {
        LearnedJob job = new("");
        job.Of(1).End(1, 60 * Megabyte, 0, isSolo: true, isRefused: false);
        ReservationAccount stream = BegunAccount.Of(_budget, 90 * Megabyte);
        _clock.Advance(s_minute);
        ReservationAccount grows = BegunAccount.TryByName(_budget, job)!;
        Assert.True(grows.TryTake(60 * Megabyte, overtakes: false));
        BudgetRequest growth = new(grows, (megabytes - 60) * Megabyte);
        _budget.Post(growth);
        Assert.True(growth.IsWaiting);
        Assert.Equal(Overtakes, CountServed(20));
        Assert.Equal(0, CountServed(20));
        for (int seconds = 0; seconds < 63; seconds++)
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
            Assert.Equal(0, CountServed(20));
        }

        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(Overtakes, CountServed(20));
        Assert.Equal(0, CountServed(20));
        stream.Close();
        Assert.True(growth.IsGranted);
    }

    // The job whose growth it was has ended, and its use goes on: it counts as what is left of it, a plain request.
    [Fact]
    public void Post_GrowthOfAJobThatEndsMeanwhile_IsANewcomerFromThenOn()
    {
        LearnedJob job = new("");
        job.Of(1).End(1, 10 * Megabyte, 0, isSolo: true, isRefused: false);
        ReservationAccount grows = BegunAccount.TryByName(_budget, job)!;
        AmbientAccount use = new(grows, _budget.Jobs);
        Assert.True(_budget.TryTake(150 * Megabyte, overtakes: false));
        BudgetRequest newcomer = Post(80);
        BudgetRequest growth = new(use, 60 * Megabyte);
        _budget.Post(growth);
        Assert.True(growth is { IsWaiting: true, GoesAhead: true });
        grows.Close();
        Assert.True(growth is { IsWaiting: true, GoesAhead: false });
        _budget.Return(100 * Megabyte);
        Assert.True(newcomer.IsGranted && growth.IsGranted);
    }

    // A cache stays. The first in line may wait for ever, but not everyone behind it.
    [Fact]
    public void Post_FirstInLineLacksMemoryThatStays_AsManyPassAgainAfterFiveSeconds()
    {
        Assert.True(_budget.TryTake(60 * Megabyte, overtakes: false));
        BudgetRequest first = Post(180);
        Assert.Equal(Overtakes, CountServed(20));
        _clock.Advance(s_patience - TimeSpan.FromMilliseconds(1));
        Assert.Equal(0, CountServed(20));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(Overtakes, CountServed(20));
        Assert.Equal(0, CountServed(20));

        _budget.Return(60 * Megabyte);
        Assert.True(first.IsGranted);
    }

    [Fact]
    public void Post_MemoryComesBackForTheFirstInLine_RoomIsKept()
    {
        Assert.True(_budget.TryTake(60 * Megabyte, overtakes: false));
        BudgetRequest first = Post(180);
        Assert.Equal(Overtakes, CountServed(20));
        for (int i = 0; i < 39; i++)
        {
            _clock.Advance(s_patience - TimeSpan.FromMilliseconds(1));
            _budget.Return(Megabyte);
            Assert.Equal(0, CountServed(1));
        }

        _budget.Return(Megabyte);
        Assert.True(first.IsGranted);
    }

    // It will end. One that has run for a minute may be a stream.
    [Fact]
    public void Post_AJobRunsBesideTheFirstInLine_RoomIsKeptForAMinute()
    {
        ReservationAccount job = BegunAccount.Of(_budget, 60 * Megabyte);
        BudgetRequest first = Post(180);
        Assert.Equal(Overtakes, CountServed(20));
        for (int i = 0; i < 12; i++)
        {
            Assert.Equal(0, CountServed(20));
            _clock.Advance(TimeSpan.FromSeconds(5));
        }

        Assert.Equal(Overtakes, CountServed(20));
        job.Close();
        Assert.True(first.IsGranted);
    }

    // A large one that needs room is not passed for as long as a stream waits for another's end.
    [Fact]
    public void Post_LargeOneBehindOneThatNeedsNoRoom_IsOvertakenSixteenTimes()
    {
        PostThirdStream(out _);
        Assert.True(_budget.TryTake(50 * Megabyte, overtakes: true));
        BudgetRequest large = Post(150);
        Assert.Equal(Overtakes, CountServed(100));
        _budget.Return(50 * Megabyte);
        Assert.True(large.IsGranted);
    }

    // A stream takes and returns a frame. That makes no room.
    [Fact]
    public void Post_ALittleComesAndGoes_AsManyPassAgain()
    {
        Assert.True(_budget.TryTake(60 * Megabyte, overtakes: false));
        ReservationAccount stream = BegunAccount.Of(_budget, Megabyte);
        Assert.True(stream.TryTake(Megabyte, overtakes: false));
        _clock.Advance(s_minute);
        Post(180);
        Assert.Equal(Overtakes, CountServed(20));
        int served = 0;
        for (int i = 0; i < 6; i++)
        {
            BudgetRequest frame = new(stream, Megabyte);
            _budget.Post(frame);
            Assert.True(frame.IsGranted);
            _clock.Advance(TimeSpan.FromSeconds(1));
            _budget.ServeWaiters();
            stream.Return(Megabyte);
            served += CountServed(20);
        }

        Assert.Equal(Overtakes, served);
    }

    // A cache of one allocator, which waits for more, must not stop the requests of another in the same container.
    [Fact]
    public void Post_FirstOfAnotherAllocatorLacksMemoryThatStays_AsManyPassAgain()
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Megabyte, 900 * Megabyte, 900 * Megabyte) { HardBytes = 1000 * Megabyte } };
        ProcessHeadroom headroom = new(left, _clock);
        MemoryBudget one = CreateBudget(headroom);
        MemoryBudget other = CreateBudget(headroom);
        Assert.True(one.TryTakeNow(300 * Megabyte));
        BudgetRequest first = new(one, 800 * Megabyte);
        one.Post(first);
        Assert.True(first.IsWaiting);
        Assert.Equal(Overtakes, CountServed(20, other));
        one.Look();
        Assert.Equal(0, CountServed(20, other));
        _clock.Advance(s_patience);
        one.Look();
        Assert.Equal(Overtakes, CountServed(20, other));
    }

    // It has a place in the container's line only while it waits for room there: the third stream waits for the end of another. What was
    // only tried leaves none behind either.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Post_NobodyOfAnotherAllocatorWaitsForRoom_AllPass(bool hadAPlace)
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Megabyte, 1000 * Megabyte, 1000 * Megabyte) };
        ProcessHeadroom headroom = new(left, _clock);
        MemoryBudget one = CreateBudget(headroom);
        MemoryBudget other = CreateBudget(headroom);
        LearnedJob job = new("");
        job.Of(1024).End(1024, 300 * Megabyte, 0, isSolo: true, isRefused: false);
        Assert.True(other.TryTakeNow(200 * Megabyte));
        BudgetRequest earlier = new(one, 900 * Megabyte);
        one.Post(earlier);
        Assert.True(earlier.IsWaiting && one.TryCancel(earlier));
        Assert.False(one.TryTakeNow(5000 * Megabyte));
        Assert.True(PostJob(1024).IsGranted);
        Assert.True(hadAPlace || PostJob(1024).IsGranted);

        // It waits for room, until another of its size has begun.
        BudgetRequest large = PostJob(2047);
        Assert.True(large.IsWaiting && one.PlaceInLine != 0 == hadAPlace);
        Assert.True(!hadAPlace || PostJob(1024).IsGranted);
        other.Return(200 * Megabyte);
        one.Look();
        int served = 0;
        for (int i = 0; i < 100; i++)
        {
            // One that has just begun is about to end, so patience alone would not help.
            ReservationAccount light = BegunAccount.Of(one, Megabyte);
            served += CountServed(2, other);
            _clock.Advance(TimeSpan.FromSeconds(10));
            one.Look();
            light.Close();
        }

        Assert.True(large.IsWaiting);
        Assert.Equal(200, served);

        BudgetRequest PostJob(long size)
        {
            RunningJob running = new(job.Of(size), size);
            BudgetRequest request = new(one, LearnedSize.Granularity, begins: new ReservationAccount(one, running));
            one.Post(request);
            return request;
        }
    }

    // Each time it is waited for from then on.
    [Fact]
    public void Post_ManyWaitBehindTheFirstInLine_SixteenPassAfterLongerAndLongerTimes()
    {
        Assert.True(_budget.TryTake(60 * Megabyte, overtakes: false));
        Post(180);
        BudgetRequest[] line = [.. Enumerable.Range(0, 200).Select(_ => Post(1))];
        List<int> passed = [];
        int served = line.Count(static request => request.IsGranted);
        for (int seconds = 1; seconds <= 80; seconds++)
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
            _budget.ServeWaiters();
            int now = line.Count(static request => request.IsGranted);
            if (now != served)
            {
                Assert.Equal(Overtakes, now - served);
                passed.Add(seconds);
            }

            served = now;
        }

        Assert.Equal([5, 15, 35, 75], passed);
    }

    // Memory that is held for 20 to 60 s often comes back only after more than 5 s. Each time the large one gets more of them.
    [Fact]
    public void Post_LargeOneBesideSlowRequests_IsServedInTheEnd()
    {
        Random random = new(1);
        List<TimeSpan> held = [];
        Queue<BudgetRequest> waiting = new();
        BudgetRequest large = Post(180);
        TimeSpan now = default;
        for (; !large.IsGranted; now += TimeSpan.FromMilliseconds(100))
        {
            Assert.True(now < TimeSpan.FromHours(1), "It waits for ever.");
            for (int i = held.RemoveAll(end => end <= now); i > 0; i--)
            {
                _budget.Return(40 * Megabyte);
            }

            while (waiting.Count < 8)
            {
                waiting.Enqueue(Post(40));
            }

            _budget.ServeWaiters();
            while (waiting.TryPeek(out BudgetRequest? next) && next.IsGranted)
            {
                waiting.Dequeue();
                held.Add(now + TimeSpan.FromSeconds(20 + (40 * random.NextDouble())));
            }

            _clock.Advance(TimeSpan.FromMilliseconds(100));
        }
    }

    private BudgetRequest PostThirdStream(out ReservationAccount first, int waiting = 1)
    {
        LearnedJob streams = new("");
        streams.Of(1).End(1, Megabyte, 0, isSolo: true, isRefused: false);
        first = BegunAccount.TryByName(_budget, streams, 1)!;
        Assert.NotNull(first);
        Assert.NotNull(BegunAccount.TryByName(_budget, streams, 1));
        return PostByName(streams, waiting);
    }

    // Returns the first.
    private BudgetRequest PostByName(LearnedJob job, int requests)
    {
        BudgetRequest[] posted = new BudgetRequest[requests];
        for (int i = 0; i < requests; i++)
        {
            posted[i] = new BudgetRequest(
                _budget, LearnedSize.Granularity, begins: new ReservationAccount(_budget, new RunningJob(job.Of(1), 1)));
            _budget.Post(posted[i]);
        }

        Assert.All(posted, static request => Assert.True(request.IsWaiting));
        return posted[0];
    }

    private MemoryBudget CreateBudget(ProcessHeadroom headroom)
    {
        MemoryBudget budget = new(clock: _clock) { Headroom = headroom, HonorsLimit = true, MinimumFreeBytes = Megabyte };
        headroom.Register(budget);
        return budget;
    }

    private BudgetRequest Post(long megabytes)
    {
        BudgetRequest request = new(_budget, megabytes * Megabyte);
        _budget.Post(request);
        return request;
    }

    // Each returns its memory at once. One that would wait gives up.
    private int CountServed(int requests, MemoryBudget? budget = null)
    {
        budget ??= _budget;
        int served = 0;
        for (int i = 0; i < requests; i++)
        {
            BudgetRequest small = new(budget, Megabyte);
            budget.Post(small);
            if (small.IsGranted)
            {
                served++;
                budget.Return(Megabyte);
            }
            else
            {
                Assert.True(budget.TryCancel(small));
            }
        }

        return served;
    }
}

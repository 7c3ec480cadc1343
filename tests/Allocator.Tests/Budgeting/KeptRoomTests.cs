using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>For whom room is kept, and for how long: others wait meanwhile. In a budget of 200 MB.</summary>
public class KeptRoomTests
{
    private const long Megabyte = 1 << 20;
    private const int Overtakes = BudgetQueue.MaximumOvertakes;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    private readonly FakeClock _clock = new();
    private readonly MemoryBudget _budget;

    public KeptRoomTests() => _budget = new MemoryBudget(200 * Megabyte, _clock);

    // Two of a size run at once until twelve have ended. Memory would not help the third.
    [Fact]
    public void Post_FirstInLineWaitsForTheEndOfOneOfItsSize_AllOthersPass()
    {
        LearnedJob streams = new("");
        streams.Of(1).End(1, Megabyte, 0, isSolo: true, isRefused: false);
        ReservationAccount? one = BegunAccount.TryByName(_budget, streams, 1);
        Assert.NotNull(BegunAccount.TryByName(_budget, streams, 1));
        BudgetRequest third = new(
            _budget, LearnedSize.Granularity, begins: new ReservationAccount(_budget, new RunningJob(streams.Of(1), 1)));
        _budget.Post(third);
        Assert.True(third.IsWaiting);

        Assert.Equal(100, CountServed(100));

        one!.Close();
        Assert.True(third.IsGranted);
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

    // It will end. One that has run for 10 s may be a stream.
    [Fact]
    public void Post_AJobRunsBesideTheFirstInLine_RoomIsKeptForTenSeconds()
    {
        ReservationAccount job = BegunAccount.Of(_budget, 60 * Megabyte);
        BudgetRequest first = Post(180);
        Assert.Equal(Overtakes, CountServed(20));
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(0, CountServed(20));
            _clock.Advance(s_patience - TimeSpan.FromMilliseconds(1));
        }

        Assert.Equal(0, CountServed(20));
        _clock.Advance(s_patience);
        Assert.Equal(Overtakes, CountServed(20));
        job.Close();
        Assert.True(first.IsGranted);
    }

    private BudgetRequest Post(long megabytes)
    {
        BudgetRequest request = new(_budget, megabytes * Megabyte);
        _budget.Post(request);
        return request;
    }

    // Each returns its memory at once. One that would wait gives up.
    private int CountServed(int requests)
    {
        int served = 0;
        for (int i = 0; i < requests; i++)
        {
            BudgetRequest small = Post(1);
            if (small.IsGranted)
            {
                served++;
                _budget.Return(Megabyte);
            }
            else
            {
                Assert.True(_budget.TryCancel(small));
            }
        }

        return served;
    }
}

using System.Collections.Concurrent;

namespace Measuring.Tests.Timing;

public class ThreadTeamTests
{
    [Fact]
    public void Run_SeveralThreads_SharesTheOperationsOutEvenly()
    {
        ConcurrentQueue<(int Index, int Count)> calls = [];
        using ThreadTeam team = new(4, (index, count) => calls.Enqueue((index, count)));

        team.Run(1000);

        Assert.Equal([(0, 250), (1, 250), (2, 250), (3, 250)], calls.Order());
    }

    [Fact]
    public void Run_OfAThread_MeetsAllOthers()
    {
        // Would never end if the threads took turns.
        using Barrier all = new(3);
        using ThreadTeam team = new(3, (_, _) => all.SignalAndWait(TimeSpan.FromMinutes(1)));

        team.Run(3);

        Assert.Equal(1, all.CurrentPhaseNumber);
    }

    [Fact]
    public void Run_Again_UsesTheSameThreadsUntilDisposedAndWaitsForAll()
    {
        ConcurrentQueue<(int Index, int Count, Thread Thread)> calls = [];
        using (ThreadTeam team = new(2, (index, count) => calls.Enqueue((index, count, Thread.CurrentThread))))
        {
            team.Run(2);

            // One each, too.
            team.Run(1);
            Assert.Equal(4, calls.Count);
        }

        Assert.Equal(2, calls.Distinct().Count());
        Assert.All(calls, static call => Assert.Equal((1, false), (call.Count, call.Thread.IsAlive)));
    }

    [Fact]
    public void Run_AThreadThatFails_ThrowsWithItsException()
    {
        using ThreadTeam team = new(2, (index, _) =>
        {
            if (index == 1)
            {
                throw new FormatException("broken");
            }
        });

        InvalidOperationException exception = Assert.Throws<InvalidOperationException>(() => team.Run(2));

        Assert.IsType<FormatException>(exception.InnerException);
    }
}

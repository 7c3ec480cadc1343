using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

/// <summary>What all tests of scenarios say.</summary>
public abstract class Exploring
{
    private readonly ITestOutputHelper _output;

    static Exploring()
    {
        Stepping.Ignore("AllocatorCounters.cs");
    }

    protected Exploring(ITestOutputHelper output) => _output = output;

    /// <summary>Goes through all schedules: none may fail.</summary>
    private protected void ExpectNoFailure(Func<Scenario> create)
    {
        Outcome outcome = new Interleaving.Explorer { BuffersStores = IsOfTwo(create) }.Explore(create);
        _output.WriteLine(outcome.ToString());
        Assert.True(outcome.Failure is null, outcome.Failure);
        Assert.True(outcome.IsExhaustive, outcome.ToString());

        // The beginning of a thread is a step. One schedule may be all there are: of two threads that return a block each, for instance.
        Assert.True(outcome.LongestSchedule > CountThreads(create), "Nothing was interleaved.");
    }

    // Two threads in ARM64's order of stores, more of them sequentially consistent: that would be too many schedules.
    private static bool IsOfTwo(Func<Scenario> create) => CountThreads(create) == 2;

    private static int CountThreads(Func<Scenario> create)
    {
        using Scenario scenario = create();
        return scenario.Threads.Count;
    }

    /// <summary>Plants a bug, and looks for the schedule that shows it.</summary>
    private protected void ExpectFailure(Weakness weakness, string failure, Func<Scenario> create)
    {
        Outcome outcome = new Interleaving.Explorer { Weakness = weakness, BuffersStores = IsOfTwo(create) }.Explore(create);
        _output.WriteLine(outcome.ToString());
        Assert.Contains(failure, outcome.Failure, StringComparison.Ordinal);

        // The operation that was weakened is one of the steps.
        Assert.Contains(weakness.Member, outcome.Failure, StringComparison.Ordinal);
    }
}

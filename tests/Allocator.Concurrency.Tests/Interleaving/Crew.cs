using Allocator.Concurrency.Interleaving.Scheduling;
using Allocator.Concurrency.Interleaving.Search;
using Trace = Allocator.Concurrency.Interleaving.Scheduling.Trace;

namespace Allocator.Concurrency.Interleaving;

/// <summary>The threads of one search, and the scenario that they play again and again.</summary>
internal sealed class Crew : IDisposable
{
    private readonly Func<Scenario> _create;
    private readonly Worker[] _workers;

    public Crew(Func<Scenario> create)
    {
        _create = create;
        using Scenario scenario = create();
        _workers = new Worker[scenario.Threads.Count];
        for (int i = 0; i < _workers.Length; i++)
        {
            _workers[i] = new Worker(i);
        }
    }

    public Schedule Run(SearchTree tree, Weakness? weakness, Trace? trace, bool buffersStores)
    {
        using Scenario scenario = _create();
        IReadOnlyList<ScenarioThread> threads = scenario.Threads;
        for (int i = 0; i < _workers.Length; i++)
        {
            if (threads[i].Before is Action before)
            {
                _workers[i].DoAlone(before);
            }
        }

        Schedule schedule = new(_workers, threads, tree, weakness, trace, buffersStores);
        schedule.Run();
        if (schedule.IsComplete)
        {
            CheckEnd(scenario, schedule);
        }

        return schedule;
    }

    public void Dispose()
    {
        foreach (Worker worker in _workers)
        {
            worker.Dispose();
        }
    }

    private static void CheckEnd(Scenario scenario, Schedule schedule)
    {
        try
        {
            scenario.Check();
        }
        catch (Exception exception)
        {
            schedule.Fail($"At the end: {exception.Message}");
        }
    }
}

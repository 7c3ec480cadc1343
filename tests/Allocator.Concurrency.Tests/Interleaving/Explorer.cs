using Allocator.Concurrency.Interleaving.Scheduling;
using Allocator.Concurrency.Interleaving.Search;
using Trace = Allocator.Concurrency.Interleaving.Scheduling.Trace;

namespace Allocator.Concurrency.Interleaving;

/// <summary>
/// Runs a scenario in every order that its threads' atomic operations can take, on real threads of which one moves at a time. What lies
/// between two of these operations is one step with the first. Accesses of two threads that nothing orders are reported as failures.
/// </summary>
public sealed class Explorer
{
    private int _settled = -1;

    /// <summary>Gets the schedules after which the search is given up.</summary>
    public int MaximumSchedules { get; init; } = 30_000;

    /// <summary>Gets the bug that is planted; null for none.</summary>
    public Weakness? Weakness { get; init; }

    /// <summary>Gets whether orders are left out that come to the same. If not, all are run: for comparison.</summary>
    public bool LeavesOutEquivalents { get; init; } = true;

    /// <summary>
    /// Gets whether stores reach memory some time after they were made, as on ARM64. If not, all is sequentially consistent.
    /// </summary>
    public bool BuffersStores { get; init; }

    /// <summary>Gets whether the current thread follows a schedule.</summary>
    public static bool IsExploring => Worker.Current is not null;

    /// <summary>Runs schedules until one fails, or until there are no others.</summary>
    public Outcome Explore(Func<Scenario> create)
    {
        Rehearse(create);
        using Crew crew = new(create);
        SearchTree tree = new(LeavesOutEquivalents);
        int complete = 0;
        int redundant = 0;
        int longest = 0;
        do
        {
            Schedule schedule = RunUndisturbed(crew, tree);
            complete += schedule.IsRedundant ? 0 : 1;
            redundant += schedule.IsRedundant ? 1 : 0;
            longest = Math.Max(longest, schedule.StepCount);
            if (schedule.Failure is not null)
            {
                return new Outcome(complete, redundant, IsExhaustive: false, longest, Describe(crew, tree, complete, schedule.Failure));
            }
        }
        while (complete + redundant < MaximumSchedules && tree.TryGoOn());

        return new Outcome(complete, redundant, IsExhaustive: tree.Depth == 0, longest, Failure: null);
    }

    // Once without a schedule, thread after thread: static initializers must not run inside of one.
    private static void Rehearse(Func<Scenario> create)
    {
        using Scenario scenario = create();
        foreach (ScenarioThread thread in scenario.Threads)
        {
            thread.Before?.Invoke();
        }

        foreach (ScenarioThread thread in scenario.Threads)
        {
            thread.Body();
        }
    }

    // A collection moves objects, and locations are told apart by address: what such a schedule has taught is forgotten.
    private Schedule RunUndisturbed(Crew crew, SearchTree tree, Trace? trace = null)
    {
        int depth = tree.Depth;
        while (true)
        {
            int collections = Settle();
            Schedule schedule = crew.Run(tree, Weakness, trace, BuffersStores);
            if (collections == System.GC.CollectionCount(0))
            {
                return schedule.IsUnrepeatable
                    ? throw new InvalidOperationException(
                        $"The scenario is not the same each time: after {schedule.StepCount} steps other threads can move than before.")
                    : schedule;
            }

            tree.Cut(depth);
            trace?.Clear();
        }
    }

    // Finalizers of what earlier scenarios left would otherwise take steps of their own beside the next schedule.
    private int Settle()
    {
        int collections;
        while ((collections = System.GC.CollectionCount(0)) != _settled)
        {
            System.GC.WaitForPendingFinalizers();
            _settled = collections;
        }

        return collections;
    }

    private string Describe(Crew crew, SearchTree tree, int schedules, string first)
    {
        Trace trace = new();
        Schedule again = RunUndisturbed(crew, tree, trace);
        return $"{again.Failure ?? $"Repeated, it did not fail: the scenario is not the same each time. First: {first}"}\nIn "
            + $"schedule {schedules}:\n{trace}";
    }
}

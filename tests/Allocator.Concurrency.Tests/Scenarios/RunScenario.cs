using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Two blocks, which lie in the cache as one run, and threads that want the run, a block of it, or its memory.</summary>
internal sealed class RunScenario : PoolScenario
{
    private readonly (BlockGuard Run, long Generation)? _held;

    /// <summary>Makes a scenario; a thread that returns the run holds it at first.</summary>
    public RunScenario(params Action<RunScenario>[] bodies)
        : base(2)
    {
        BeginAt(0);
        bool isHeld = bodies.Any(static body => body.Method.Name is nameof(PutRun) or nameof(PutRunAndRentBlock));
        BlockGuard run = TryRentRun() ?? throw new InvalidOperationException("There is no run.");
        long generation = Begin(run);
        if (isHeld)
        {
            _held = (run, generation);
        }
        else
        {
            End(run, generation);
        }

        foreach (Action<RunScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this), static () => BeginAt(0));
        }
    }

    /// <summary>Rents a run of the cache or of the maps, where there is one, uses it and returns it.</summary>
    public static void UseRun(RunScenario scenario) => scenario.Use(scenario.Pool.TryRentReady(2, ofGroup: false));

    public static void UseBlock(RunScenario scenario) => scenario.RentAndReturn();

    public static void PutRun(RunScenario scenario) => scenario.End(scenario._held!.Value.Run, scenario._held.Value.Generation);

    public static void PutRunAndRentBlock(RunScenario scenario)
    {
        PutRun(scenario);
        scenario.RentAndReturn();
    }

    public static void Drain(RunScenario scenario) => scenario.Pool.DrainCache();

    public static void TrimAll(RunScenario scenario) => scenario.Pool.Idle.Release(long.MaxValue);

    public override void Check() => ExpectAllIdle();

    private BlockGuard? TryRentRun()
    {
        Refusals refusals = default;
        return Pool.TryRentRun(2, ref refusals, out _);
    }

    private void Use(BlockGuard? guard)
    {
        if (guard is not null)
        {
            long generation = Begin(guard);
            End(guard, generation);
        }
    }
}

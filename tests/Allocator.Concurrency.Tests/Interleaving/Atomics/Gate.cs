using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>Where a thread of a schedule waits for its turn before each atomic operation. All other threads walk through.</summary>
internal static class Gate
{
    /// <summary>Waits for the current thread's turn.</summary>
    /// <returns>The schedule that it follows; null where it follows none.</returns>
    public static Schedule? Pass<T>(StepKind kind, ref T location, in StepSite site)
    {
        if (Worker.Current is not Worker worker || worker.Schedule is not Schedule schedule || Stepping.Ignores(site.File))
        {
            return null;
        }

        schedule.Await(worker, Step.At(kind, ref location, site));
        return schedule;
    }
}

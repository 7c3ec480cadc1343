using Allocator.Concurrency.Interleaving.Memory;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>Where a thread of a schedule waits for its turn before each atomic operation. All other threads walk through.</summary>
internal static class Gate
{
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static List<StepSite>? t_updates;
#pragma warning restore IDE1006

    /// <summary>Returns the interlocked operations that an action takes on this thread, outside of schedules.</summary>
    public static IReadOnlyList<StepSite> UpdatesOf(Action action)
    {
        List<StepSite> updates = [];
        t_updates = updates;
        try
        {
            action();
            return updates;
        }
        finally
        {
            t_updates = null;
        }
    }

    /// <summary>Waits for the current thread's turn to read, or to read and write.</summary>
    /// <returns>The schedule that it follows; null where it follows none.</returns>
    public static Schedule? Pass<T>(StepKind kind, ref T location, in StepSite site)
    {
        if (Find(site, out Worker? worker) is not Schedule schedule)
        {
            if (kind == StepKind.Update)
            {
                t_updates?.Add(site);
            }

            return null;
        }

        bool isOrdered = IsOrdered(schedule, site);
        StepKind asOrdered = kind == StepKind.Update && !isOrdered ? StepKind.Observe : kind;
        Step step = Step.At(asOrdered, ref location, site);
        schedule.Step(worker!, step, isOrdered);
        if (kind == StepKind.Read && !isOrdered && !Stepping.IsOfScenario(site.File))
        {
            // Later reads may come before it: no order of steps shows that, so it has to be ordered like any plain read.
            schedule.AccessPlain(worker!, step.Address, AccessKind.PlainRead, site.ToString());
        }

        return schedule;
    }

    /// <summary>Returns the schedule that the current thread follows; null where it follows none.</summary>
    public static Schedule? Find(in StepSite site, out Worker? worker)
    {
        worker = Worker.Current;
        return worker?.Schedule is Schedule schedule && !Stepping.Ignores(site.File) ? schedule : null;
    }

    /// <summary>Notes a lock that the current thread takes outside of schedules.</summary>
    public static void NoteLock(in StepSite site) => t_updates?.Add(site);

    /// <summary>Returns whether an operation orders anything: not what a scenario notes, or it would order what it looks at.</summary>
    public static bool IsOrdered(Schedule schedule, in StepSite site) =>
        !Stepping.IsOfScenario(site.File)
        && !(schedule.IsWeakened(site, out Weakness weakness) && weakness.Kind == WeaknessKind.OrdersNothing);

    /// <summary>Gets an address that is good until the next collection.</summary>
    public static unsafe nint AddressOf<T>(ref T location) => (nint)Unsafe.AsPointer(ref location);
}

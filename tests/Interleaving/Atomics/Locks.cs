using System.Threading;
using Interleaving.Scheduling;

namespace Interleaving.Atomics;

/// <summary>What a <c>lock</c> statement becomes. Other threads may take part: the real lock is taken as well.</summary>
public static class Locks
{
    public static void Enter(object target, ref bool lockTaken)
    {
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            schedule.AcquireLock(worker, target, new StepSite("lock", target.GetType().Name, "", "", 0));
        }

        Monitor.Enter(target, ref lockTaken);
    }

    public static void Exit(object target)
    {
        Monitor.Exit(target);
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            schedule.ReleaseLock(worker, target, new StepSite("unlock", target.GetType().Name, "", "", 0));
        }
    }
}

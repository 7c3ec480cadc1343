using System.Reflection;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>What a <c>lock</c> statement becomes. Other threads may take part: the real lock is taken as well.</summary>
public static class Locks
{
    // By name: the compiler takes Seam/Monitor.cs for System.Threading.Monitor in this assembly.
    private static readonly Type s_monitor = typeof(object).Assembly.GetType("System.Threading.Monitor", throwOnError: true)!;

    private static readonly EnterMethod s_enter = s_monitor
        .GetMethod(nameof(Enter), [typeof(object), typeof(bool).MakeByRefType()])!.CreateDelegate<EnterMethod>();

    private static readonly Action<object> s_exit = s_monitor.GetMethod(nameof(Exit), [typeof(object)])!.CreateDelegate<Action<object>>();

    private static readonly Func<object, bool> s_isEntered = s_monitor
        .GetMethod(nameof(IsEntered), [typeof(object)])!.CreateDelegate<Func<object, bool>>();

    private delegate void EnterMethod(object target, ref bool lockTaken);

    public static void Enter(object target, ref bool lockTaken)
    {
        StepSite site = new("lock", target.GetType().Name, "", "", 0);
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            schedule.AcquireLock(worker, target, site);
        }
        else
        {
            Gate.NoteLock(site);
        }

        s_enter(target, ref lockTaken);
    }

    public static bool IsEntered(object target) => s_isEntered(target);

    public static void Exit(object target)
    {
        s_exit(target);
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            schedule.ReleaseLock(worker, target, new StepSite("unlock", target.GetType().Name, "", "", 0));
        }
    }
}

using System;
using Allocator.Concurrency.Seam;

namespace Allocator;

/// <summary>In place of the library's: what is thrown ends the schedule, and work that is queued is done when the scenario says so.</summary>
internal static class Background
{
    public static void Prepare()
    {
    }

    public static void Queue(IBackgroundWork work) => WorkItems.UnsafeQueueUserWorkItem(static state => ((IBackgroundWork)state!).DoWork(), work);

    public static void Run(IBackgroundWork work) => work.DoWork();

    public static System.Threading.Timer CreateTimer(Action callback) => throw new NotSupportedException();

    public static void StartThread(Action run, string name) => throw new NotSupportedException();

    /// <summary>Nothing is kept here.</summary>
    public static void RetryAll()
    {
    }
}

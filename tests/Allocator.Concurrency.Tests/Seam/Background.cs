using Allocator.Concurrency.Seam;

namespace Allocator;

/// <summary>
/// In place of the library's: what is thrown ends the schedule, and work that is queued is done when the scenario says so.
/// </summary>
internal static class Background
{
    private static readonly Queue<IBackgroundWork> s_kept = new();

    public static bool HasKept => s_kept.Count > 0;

    public static void Prepare()
    {
    }

    /// <summary>Queues work, or keeps it where there is no memory for that.</summary>
    public static void Queue(IBackgroundWork work)
    {
        try
        {
            WorkItems.UnsafeQueueUserWorkItem(static state => ((IBackgroundWork)state!).DoWork(), work);
        }
        catch (OutOfMemoryException)
        {
            s_kept.Enqueue(work);
        }
    }

    public static void Run(IBackgroundWork work) => work.DoWork();

    public static System.Threading.Timer CreateTimer(Action callback) => throw new NotSupportedException();

    public static void StartThread(Action run, string name) => throw new NotSupportedException();

    /// <summary>Tries again what was kept.</summary>
    public static void RetryAll()
    {
        for (int left = s_kept.Count; left > 0; left--)
        {
            Queue(s_kept.Dequeue());
        }
    }
}

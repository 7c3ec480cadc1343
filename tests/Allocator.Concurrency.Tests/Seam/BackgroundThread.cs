using Allocator.Concurrency.Seam;

namespace Allocator;

/// <summary>
/// In place of the library's: what is thrown ends the schedule, and work that is queued is done when the scenario says so.
/// </summary>
internal sealed class BackgroundThread(string name)
{
    private static readonly Queue<IBackgroundWork> s_failed = new();

    public static BackgroundThread Shared { get; } = new("Allocator");

    public static BackgroundThread Long { get; } = new("Allocator, long work");

    public static bool IsUnused { get; set; }

    public bool IsRunning => true;

    public bool IsCurrent => name.Length == 0;

    public static bool LeavesToLong => Shared.IsCurrent;

    public static bool ForbidsUserCode => Shared.IsCurrent || Long.IsCurrent;

    public static void RunLong(IBackgroundWork work) => work.DoWork();

    public static void StartThread(System.Threading.ThreadStart start, string name) => throw new NotSupportedException();

    /// <summary>Tries again what failed.</summary>
    public static void RetryAll()
    {
        for (int left = s_failed.Count; left > 0; left--)
        {
            Do(s_failed.Dequeue());
        }
    }

    public void Start()
    {
    }

    public void Ensure()
    {
    }

    public void Queue(IBackgroundWork work) => WorkItems.Add(() => Do(work));

    public void RunBy(IBackgroundWork work, long dueMilliseconds)
    {
    }

    public void Cancel(IBackgroundWork work)
    {
    }

    public void Run(IBackgroundWork work) => work.DoWork();

    public void NoteUnused()
    {
    }

    public void Close()
    {
    }

    private static void Do(IBackgroundWork work)
    {
        try
        {
            work.DoWork();
        }
        catch (OutOfMemoryException)
        {
            s_failed.Enqueue(work);
        }
    }
}

using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>Shows how far a child is.</summary>
internal static class JobProgress
{
    public static void Show(ChildMessage message, ProgressTask task)
    {
        // What follows the last picture is the wait for the trims: the bar says so by a share of its own.
        if (message.Total is { } total)
        {
            _ = task.MaxValue(Math.Max(1, total * 1.1));
        }

        _ = task.Value(message.Done ?? task.MaxValue);
    }
}

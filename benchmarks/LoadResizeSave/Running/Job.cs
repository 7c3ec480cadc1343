using LoadResizeSave.Reporting;
using LoadResizeSave.Synthesis;

namespace LoadResizeSave.Running;

/// <summary>What is measured once the pictures are there, and what is said about it.</summary>
internal interface IJobMeasurement
{
    IReadOnlyList<string> Failures { get; }

    Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken);

    bool Report();
}

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

/// <summary>The parent process: makes pictures where none were given, has everything measured, and reports.</summary>
internal sealed class Job(AllocatorRunner runner, JobOptions options, IJobMeasurement measurement, IAnsiConsole console)
{
    private readonly IJobMeasurement _measurement = measurement;

    /// <summary>Runs it; returns the exit code, 0 where all allocators saved the same pictures and at least one.</summary>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        if (options.Input is not null && !Directory.Exists(options.Input))
        {
            console.MarkupLineInterpolated($"[red]There is no folder {options.Input}.[/]");
            return 1;
        }

        if (options.Input is { } folder && IsWithin(folder, MeasuringChild.SavedFolder(options)))
        {
            console.MarkupLineInterpolated($"[red]{folder} is where pictures are saved: they would be written over while they are read.[/]");
            return 1;
        }

        PictureCodecs codecs = new(options.UseLibjpeg);
        _ = Directory.CreateDirectory(options.Output);
        _ = Directory.CreateDirectory(options.Work);
        new JobText(console).WriteHeading(options, codecs.Jpeg is not null);
        string input = options.Input ?? SyntheticSet.Folder(options, codecs);
        await CreateProgress().StartAsync(async progress =>
        {
            if (options.Input is null)
            {
                ProgressTask task = progress.AddTask("photographs");
                SyntheticSet.Make(input, options, codecs, (done, total) => task.MaxValue(total).Value(done), cancellationToken);
                _ = task.Value(task.MaxValue);
            }

            if (options.Allocators.Count > 1)
            {
                await WarmUpAsync(input, progress.AddTask("warm-up"), cancellationToken);
            }

            await _measurement.MeasureAsync(input, progress, cancellationToken);
        });

        foreach (string failure in _measurement.Failures)
        {
            console.MarkupLineInterpolated($"[red]{failure}[/]");
        }

        return _measurement.Report() && _measurement.Failures.Count == 0 ? 0 : 1;
    }

    private static bool IsWithin(string folder, string other)
        => Path.TrimEndingDirectorySeparator(folder) == other || folder.StartsWith(other + Path.DirectorySeparatorChar, StringComparison.Ordinal);

    private Progress CreateProgress() => console.Progress()
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn());

    // Once through the folder, uncounted: whoever comes first reads the pictures and the runtime from disk, and shares the cores with
    // what the build left running.
    private async Task WarmUpAsync(string input, ProgressTask task, CancellationToken cancellationToken)
    {
        JobOptions once = options with { Repeat = 1, TrimPeriod = TimeSpan.FromMilliseconds(50) };
        try
        {
            _ = await runner.RunAsync(once, once.Allocators[0], input, message => JobProgress.Show(message, task), cancellationToken);
        }
        catch (ChildFailedException)
        {
            // The measurement will fail in the same way, and says so.
        }

        task.StopTask();
    }
}

using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Codecs;
using LoadResizeSave.Reporting;
using LoadResizeSave.Synthesis;
using Measuring.Processes;
using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>The parent process: makes pictures where none were given, has everything measured, and reports.</summary>
internal sealed class Job
{
    private readonly AllocatorRunner _runner;
    private readonly JobOptions _options;
    private readonly IJobMeasurement _measurement;
    private readonly IAnsiConsole _console;

    /// <summary>Prepares the job that <paramref name="options"/> describe.</summary>
    public Job(AllocatorRunner runner, JobOptions options, IJobMeasurement measurement, IAnsiConsole console)
    {
        _runner = runner;
        _options = options;
        _measurement = measurement;
        _console = console;
    }

    /// <summary>Runs it; returns the exit code, 0 where all allocators saved the same pictures and at least one.</summary>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        if (_options.Input is not null && !Directory.Exists(_options.Input))
        {
            _console.MarkupLineInterpolated($"[red]There is no folder {_options.Input}.[/]");
            return 1;
        }

        if (_options.Input is { } folder && IsWithin(folder, MeasuringChild.SavedFolder(_options)))
        {
            _console.MarkupLineInterpolated($"[red]{folder} is where pictures are saved: they would be written over while they are read.[/]");
            return 1;
        }

        PictureCodecs codecs = new(_options.UseLibjpeg);
        _ = Directory.CreateDirectory(_options.Output);
        _ = Directory.CreateDirectory(_options.Work);
        new JobText(_console).WriteHeading(_options, codecs.Jpeg is not null);
        string input = _options.Input ?? SyntheticSet.Folder(_options, codecs);
        await CreateProgress().StartAsync(async progress =>
        {
            if (_options.Input is null)
            {
                ProgressTask task = progress.AddTask("photographs");
                SyntheticSet.Make(input, _options, codecs, (done, total) => task.MaxValue(total).Value(done), cancellationToken);
                _ = task.Value(task.MaxValue);
            }

            if (_options.Allocators.Count > 1)
            {
                await WarmUpAsync(input, progress.AddTask("warm-up"), cancellationToken);
            }

            await _measurement.MeasureAsync(input, progress, cancellationToken);
        });

        foreach (string failure in _measurement.Failures)
        {
            _console.MarkupLineInterpolated($"[red]{failure}[/]");
        }

        return _measurement.Report() && _measurement.Failures.Count == 0 ? 0 : 1;
    }

    private static bool IsWithin(string folder, string other)
        => Path.TrimEndingDirectorySeparator(folder) == other || folder.StartsWith(other + Path.DirectorySeparatorChar, StringComparison.Ordinal);

    private Progress CreateProgress() => _console.Progress()
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn());

    // Once through the folder, uncounted: whoever comes first reads the pictures and the runtime from disk, and shares the cores with what the build left running.
    private async Task WarmUpAsync(string input, ProgressTask task, CancellationToken cancellationToken)
    {
        JobOptions once = _options with { Repeat = 1, TrimPeriod = TimeSpan.FromMilliseconds(50) };
        try
        {
            _ = await _runner.RunAsync(once, once.Allocators[0], input, message => JobProgress.Show(message, task), cancellationToken);
        }
        catch (ChildFailedException)
        {
            // The measurement will fail in the same way, and says so.
        }

        task.StopTask();
    }
}

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Codecs;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using LoadResizeSave.Synthesis;
using Measuring.Machines;
using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>The parent process: makes pictures where none were given, runs a child for each allocator, compares and reports.</summary>
internal sealed class Job
{
    private readonly CommandLine _commandLine;
    private readonly JobOptions _options;
    private readonly IAnsiConsole _console;

    /// <summary>Prepares the job that <paramref name="options"/> describe.</summary>
    public Job(CommandLine commandLine, JobOptions options, IAnsiConsole console)
    {
        _commandLine = commandLine;
        _options = options;
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
        JobText text = new(_console);
        text.WriteHeading(_options, codecs.Jpeg is not null);
        List<MeasuredRun> runs = [];
        List<string> failures = [];
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

            foreach ((AllocatorKind kind, ProgressTask task) in _options.Allocators.Select(kind => (kind, progress.AddTask(JobText.Name(kind), autoStart: false))).ToList())
            {
                await MeasureAsync(_options, kind, input, task, runs, failures, cancellationToken);
            }
        });

        foreach (string failure in failures)
        {
            _console.MarkupLineInterpolated($"[red]{failure}[/]");
        }

        return Report(text, runs) && failures.Count == 0 ? 0 : 1;
    }

    private static bool IsWithin(string folder, string other)
        => Path.TrimEndingDirectorySeparator(folder) == other || folder.StartsWith(other + Path.DirectorySeparatorChar, StringComparison.Ordinal);

    private Progress CreateProgress() => _console.Progress()
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn());

    // Once through the folder, uncounted: whoever comes first reads the pictures and the runtime from disk, and shares the cores with what the build left running.
    private async Task WarmUpAsync(string input, ProgressTask task, CancellationToken cancellationToken)
    {
        JobOptions once = _options with { Repeat = 1, TrimPeriod = TimeSpan.FromMilliseconds(50) };
        await MeasureAsync(once, once.Allocators[0], input, task, [], [], cancellationToken);
    }

    private async Task MeasureAsync(
        JobOptions options, AllocatorKind kind, string input, ProgressTask task, List<MeasuredRun> runs, List<string> failures, CancellationToken cancellationToken)
    {
        task.StartTask();
        try
        {
            runs.Add(await ChildProcess.RunAsync(
                _commandLine.ChildArguments(options, kind, input), message => Show(message, task), cancellationToken));
        }
        catch (ChildFailedException exception)
        {
            failures.Add($"{JobText.Name(kind)}: {exception.Message}");
        }

        task.StopTask();
    }

    // What follows the last picture is the wait for the trims: the bar says so by a share of its own.
    private static void Show(ChildMessage message, ProgressTask task)
    {
        if (message.Total is { } total)
        {
            _ = task.MaxValue(Math.Max(1, total * 1.1));
        }

        _ = task.Value(message.Done ?? task.MaxValue);
    }

    private bool Report(JobText text, List<MeasuredRun> runs)
    {
        if (runs.Count == 0)
        {
            return false;
        }

        OutputComparison comparison = new(runs);
        string results = Path.Combine(_options.Output, "results.json");
        File.WriteAllText(results, JsonSerializer.Serialize(Summarize(runs, comparison), JobJson.Default.JobReport));
        _ = Directory.CreateDirectory(Path.GetDirectoryName(_options.Chart)!);
        File.WriteAllText(_options.Chart, new MemoryChart(runs).Render());

        _console.Write(RunTable.Create(runs));
        text.WritePoolLine(runs);
        text.WriteSkipped(runs);
        text.WriteComparison(runs, comparison);
        text.WritePlaces(MeasuringChild.SavedFolder(_options), _options.Chart, results);
        return comparison.AreIdentical && runs.All(run => run.Pictures > 0);
    }

    private JobReport Summarize(List<MeasuredRun> runs, OutputComparison comparison) => new()
    {
        Date = DateTimeOffset.UtcNow,
        Machine = MachineText.Describe(ThisMachine.Describe()),
        Parallelism = _options.Parallelism,
        Repeat = _options.Repeat,
        Width = _options.Width,
        TrimPeriodSeconds = _options.TrimPeriod.TotalSeconds,
        OutputSha256 = comparison.AreIdentical ? comparison.Hashes[0] : null,
        Runs = runs,
    };
}

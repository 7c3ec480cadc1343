using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using Measuring.Machines;
using Measuring.Processes;
using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>One run with each allocator, with all details.</summary>
internal sealed class SingleMeasurement : IJobMeasurement
{
    private readonly AllocatorRunner _runner;
    private readonly JobOptions _options;
    private readonly IAnsiConsole _console;
    private readonly List<MeasuredRun> _runs = [];
    private readonly List<string> _failures = [];

    /// <summary>Prepares the measurement that <paramref name="options"/> describe.</summary>
    public SingleMeasurement(AllocatorRunner runner, JobOptions options, IAnsiConsole console)
    {
        _runner = runner;
        _options = options;
        _console = console;
    }

    /// <inheritdoc/>
    public IReadOnlyList<string> Failures => _failures;

    /// <inheritdoc/>
    public async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        foreach ((AllocatorKind kind, ProgressTask task) in _options.Allocators.Select(kind => (kind, progress.AddTask(JobText.Name(kind), autoStart: false))).ToList())
        {
            task.StartTask();
            try
            {
                _runs.Add(await _runner.RunAsync(_options, kind, input, message => JobProgress.Show(message, task), cancellationToken));
            }
            catch (ChildFailedException exception)
            {
                _failures.Add($"{JobText.Name(kind)}: {exception.Message}");
            }

            task.StopTask();
        }
    }

    /// <inheritdoc/>
    public bool Report()
    {
        if (_runs.Count == 0)
        {
            return false;
        }

        OutputComparison comparison = new(_runs);
        string results = Path.Combine(_options.Output, "results.json");
        File.WriteAllText(results, JsonSerializer.Serialize(Summarize(comparison), JobJson.Default.JobReport));
        _ = Directory.CreateDirectory(Path.GetDirectoryName(_options.Chart)!);
        File.WriteAllText(_options.Chart, new MemoryChart(_runs).Render());

        _console.Write(RunTable.Create(_runs));
        JobText text = new(_console);
        text.WritePoolLine(_runs);
        text.WriteSkipped(_runs);
        text.WriteComparison(_runs, comparison);
        text.WritePlaces(MeasuringChild.SavedFolder(_options), _options.Chart, results);
        return comparison.AreIdentical && _runs.All(run => run.Pictures > 0);
    }

    private JobReport Summarize(OutputComparison comparison) => new()
    {
        Date = DateTimeOffset.UtcNow,
        Machine = MachineText.Describe(ThisMachine.Describe()),
        Parallelism = _options.Parallelism,
        Repeat = _options.Repeat,
        Width = _options.Width,
        TrimPeriodSeconds = _options.TrimPeriod.TotalSeconds,
        OutputSha256 = comparison.AreIdentical ? comparison.Hashes[0] : null,
        Runs = _runs,
    };
}

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using Measuring.Processes;
using Measuring.Results;
using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>Many rounds with one run of each allocator, and the medians over them.</summary>
internal sealed class RoundMeasurement : IJobMeasurement
{
    private readonly AllocatorRunner _runner;
    private readonly JobOptions _options;
    private readonly IAnsiConsole _console;
    private readonly Func<string, ResultDocument> _newDocument;
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly List<Round> _rounds = [];
    private readonly List<string> _failures = [];

    /// <summary>Prepares the measurement that <paramref name="options"/> describe; <paramref name="newDocument"/> makes a result with a title.</summary>
    public RoundMeasurement(AllocatorRunner runner, JobOptions options, IAnsiConsole console, Func<string, ResultDocument> newDocument)
    {
        _runner = runner;
        _options = options;
        _console = console;
        _newDocument = newDocument;
    }

    /// <inheritdoc/>
    public IReadOnlyList<string> Failures => _failures;

    /// <inheritdoc/>
    public async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        ProgressTask task = progress.AddTask("rounds", maxValue: _options.Runs * _options.Allocators.Count);
        for (int i = 0; i < _options.Runs && _failures.Count == 0; i++)
        {
            Dictionary<AllocatorKind, MeasuredRun> runs = [];
            foreach (AllocatorKind kind in Rotation.Order(_options.Allocators, i))
            {
                task.Description = $"round {i + 1} of {_options.Runs}";
                try
                {
                    runs.Add(kind, await _runner.RunAsync(_options, kind, input, _ => { }, cancellationToken));
                }
                catch (ChildFailedException exception)
                {
                    // Medians over what is left would hide it.
                    _failures.Add($"round {i + 1}, {JobText.Name(kind)}: {exception.Message}");
                    return;
                }

                task.Increment(1);
            }

            Add(new Round(i + 1, [.. _options.Allocators.Select(kind => runs[kind])]));
        }
    }

    /// <inheritdoc/>
    public bool Report()
    {
        if (_failures.Count > 0)
        {
            return false;
        }

        RoundReport report = new(_rounds, _options);
        ResultDocument document = report.Complete(_newDocument(report.Title), _clock.Elapsed);
        string results = ResultFile.Save(document, _options.Output);
        report.SaveChart();

        ResultConsole.Write(_console, document);
        new JobText(_console).WriteSkipped(_rounds[0].Runs);
        new JobText(_console).WritePlaces(MeasuringChild.SavedFolder(_options), _options.Chart, results);
        return true;
    }

    // The same files in every round too: what was wrong once is not made good by 39 others.
    private void Add(Round round)
    {
        OutputComparison comparison = new([.. round.Runs, .. _rounds.Take(1).SelectMany(first => first.Runs.Take(1))]);
        if (!comparison.AreIdentical)
        {
            _failures.Add($"round {round.Number}: the outputs differ in {comparison.Differences.Count} files: {string.Join(", ", comparison.Differences.Take(10))}");
        }
        else if (round.Runs.Any(run => run.Pictures == 0))
        {
            _failures.Add($"round {round.Number}: nothing could be processed");
        }

        _rounds.Add(round);
    }
}

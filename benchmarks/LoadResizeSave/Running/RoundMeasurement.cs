using LoadResizeSave.Reporting;

namespace LoadResizeSave.Running;

/// <summary>Lets everybody be first in turn.</summary>
internal static class Rotation
{
    /// <summary>
    /// Returns <paramref name="items"/> in the order of a round: each round begins with the item after the one that the round before
    /// began with.
    /// </summary>
    public static IEnumerable<T> Order<T>(IReadOnlyList<T> items, int round)
        => Enumerable.Range(round, items.Count).Select(i => items[i % items.Count]);
}

/// <summary>One run of every allocator, close together in time, so that what else the machine does falls on all of them.</summary>
/// <param name="Runs">The runs, in the order in which the user named the allocators.</param>
internal sealed record Round(int Number, IReadOnlyList<MeasuredRun> Runs);

/// <summary>Many rounds with one run of each allocator, and the medians over them.</summary>
internal sealed class RoundMeasurement(
    AllocatorRunner runner, JobOptions options, IAnsiConsole console, Func<string, ResultDocument> newDocument) : IJobMeasurement
{
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly List<Round> _rounds = [];
    private readonly List<string> _failures = [];

    public IReadOnlyList<string> Failures => _failures;

    public async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        ProgressTask task = progress.AddTask("rounds", maxValue: options.Runs * options.Allocators.Count);
        for (int i = 0; i < options.Runs && _failures.Count == 0; i++)
        {
            Dictionary<AllocatorKind, MeasuredRun> runs = [];
            foreach (AllocatorKind kind in Rotation.Order(options.Allocators, i))
            {
                task.Description = $"round {i + 1} of {options.Runs}";
                try
                {
                    runs.Add(kind, await runner.RunAsync(options, kind, input, _ => { }, cancellationToken));
                }
                catch (ChildFailedException exception)
                {
                    // Medians over what is left would hide it.
                    _failures.Add($"round {i + 1}, {JobText.Name(kind)}: {exception.Message}");
                    return;
                }

                task.Increment(1);
            }

            Add(new Round(i + 1, [.. options.Allocators.Select(kind => runs[kind])]));
        }
    }

    public bool Report()
    {
        if (_failures.Count > 0)
        {
            return false;
        }

        RoundReport report = new(_rounds, options);
        ResultDocument document = report.Complete(newDocument(report.Title), _clock.Elapsed);
        string results = ResultFile.Save(document, options.Output);
        report.SaveChart();

        ResultConsole.Write(console, document);
        new JobText(console).WriteSkipped(_rounds[0].Runs);
        new JobText(console).WritePlaces(MeasuringChild.SavedFolder(options), options.Chart, results);
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

using System.Text.Json;
using LoadResizeSave.Reporting;

namespace LoadResizeSave.Running;

/// <summary>One run with each allocator, with all details.</summary>
internal sealed class SingleMeasurement(AllocatorRunner runner, JobOptions options, IAnsiConsole console) : IJobMeasurement
{
    private readonly List<MeasuredRun> _runs = [];
    private readonly List<string> _failures = [];

    public IReadOnlyList<string> Failures => _failures;

    public async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        foreach ((AllocatorKind kind, ProgressTask task) in options.Allocators.Select(kind => (kind, progress.AddTask(JobText.Name(kind), autoStart: false))).ToList())
        {
            task.StartTask();
            try
            {
                _runs.Add(await runner.RunAsync(options, kind, input, message => JobProgress.Show(message, task), cancellationToken));
            }
            catch (ChildFailedException exception)
            {
                _failures.Add($"{JobText.Name(kind)}: {exception.Message}");
            }

            task.StopTask();
        }
    }

    public bool Report()
    {
        if (_runs.Count == 0)
        {
            return false;
        }

        OutputComparison comparison = new(_runs);
        string results = Path.Combine(options.Output, "results.json");
        File.WriteAllText(results, JsonSerializer.Serialize(Summarize(comparison), JobJson.Default.JobReport));
        _ = Directory.CreateDirectory(Path.GetDirectoryName(options.Chart)!);
        File.WriteAllText(options.Chart, new MemoryChart(_runs).Render());

        console.Write(RunTable.Create(_runs));
        JobText text = new(console);
        text.WritePoolLine(_runs);
        text.WriteSkipped(_runs);
        text.WriteComparison(_runs, comparison);
        text.WritePlaces(MeasuringChild.SavedFolder(options), options.Chart, results);
        return comparison.AreIdentical && _runs.All(run => run.Pictures > 0);
    }

    private JobReport Summarize(OutputComparison comparison) => new()
    {
        Date = DateTimeOffset.UtcNow,
        Machine = MachineText.Describe(ThisMachine.Describe()),
        Parallelism = options.Parallelism,
        Repeat = options.Repeat,
        Width = options.Width,
        TrimPeriodSeconds = options.TrimPeriod.TotalSeconds,
        OutputSha256 = comparison.AreIdentical ? comparison.Hashes[0] : null,
        Runs = _runs,
    };
}

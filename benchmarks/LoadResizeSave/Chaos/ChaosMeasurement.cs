using LoadResizeSave.Containers;

namespace LoadResizeSave.Chaos;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of photographs; null: those of the system, or some that are made.</param>
internal sealed record ChaosLoad(
    string? Input, IReadOnlyList<ChaosScenario> Scenarios, IReadOnlyList<MemoryWay> Ways, int Runs);

/// <summary>Runs the scenarios, and judges each run.</summary>
internal sealed class ChaosMeasurement(ChaosLoad load, IAnsiConsole console)
{
    private const string Program = "LoadResizeSave-chaos";
    private const double Mebibyte = 1 << 20;

    // What is abandoned comes back after a collection and a trim period: a minute by default, which a run should not last.
    private const double TrimPeriodSeconds = 1;
    private const double SettleSeconds = 0.5;

    /// <summary>Measures; the failures are the scenarios with runs that did not pass.</summary>
    public async Task<(ResultDocument Document, IReadOnlyList<string> Failures)> RunAsync(
        ResultDocument empty, CancellationToken cancellationToken)
    {
        (IReadOnlyList<string> pictures, string origin) = new ContainerPictures(load.Input, ContainerOptions.WorkFolder).GetPhotographs();
        List<ChaosResult> results = [.. from scenario in load.Scenarios from way in load.Ways select new ChaosResult(scenario, way)];
        foreach (ChaosResult result in results)
        {
            for (int i = 0; i < load.Runs; i++)
            {
                await RunAsync(result, i, pictures, cancellationToken);
            }
        }

        return (
            Complete(empty with { Title = "What may go wrong around photographs in a container" }, results, origin),
            [
                .. from result in results
                   where result.Passed < result.Runs.Count
                   select Text($"{result.Scenario.Name}, {result.Way.Name}: {result.Passed} of {result.Runs.Count} runs passed"),
            ]);
    }

    public static ResultDocument Complete(ResultDocument document, IReadOnlyList<ChaosResult> results, string origin) => document with
    {
        Program = Program,
        Tables =
        [
            new ResultTable
            {
                Title = "Scenarios",
                Labels = ["scenario", "what goes wrong", "memory", "outcome"],
                Columns =
                [
                    new("limit", "MiB", "0"), new("passed", "runs", "N0"), new("runs", null, "N0"), new("killed", "runs", "N0"),
                    new("done", "a run", "0.0"), new("refused", "a run", "0.0"), new("vanished", "a run", "0.0"),
                    new("damaged", "a run", "0.0"), new("slowest job", "seconds", "0.0"), new("longest wait", "seconds", "0.0"),
                    new("peak of cgroup", "MiB", "0"),
                ],
                Rows = [.. results.Select(CreateRow)],
            },
        ],
        Notes =
        [
            $"{origin}.",
            "A run passes when no process is killed, every job is heard of, and every one with which nothing is wrong is done; "
                + "or, where a way may refuse, refused as transient.",
            Text($"No job may take longer than {ChaosScenario.LongestQuietJob} s and what the scenario itself takes."),
            "In the end every counter of the library must be zero: nothing outstanding, quarantined or taken of a budget.",
            Text($"The library looks at idle memory every {TrimPeriodSeconds} s, so that what was abandoned is back within seconds."),
            "No environment variable that concerns memory is set.",
        ],
    };

    private async Task RunAsync(ChaosResult result, int index, IReadOnlyList<string> pictures, CancellationToken cancellationToken)
    {
        (ChaosScenario scenario, MemoryWay way) = (result.Scenario, result.Way);
        ContainedOptions options = new()
        {
            Way = way.Name,
            LimitMegabytes = scenario.LimitMegabytes,
            Workers = scenario.Workers,
            Jobs = scenario.Jobs,
            Kinds = scenario.Kinds,
            Pictures = pictures,
            SettleSeconds = SettleSeconds,
            TrimPeriodSeconds = TrimPeriodSeconds,
        };
        ContainedRun run = await ContainedProcess.RunAsync(options, scenario.LimitMegabytes, scenario.Disturb, cancellationToken);
        result.Add(run);
        IReadOnlyList<string> faults = result.FindFaults(run);
        string outcome = faults.Count == 0 ? "passed" : "FAILED";
        console.WriteLine(Text($"{scenario.Name,-10} {way.Name,-10} run {index + 1}: {outcome}, {run.Describe()}"));
        foreach (string fault in faults)
        {
            console.MarkupLineInterpolated($"[red]  {fault}[/]");
        }

        if (run.Ending == RunEnding.Crashed)
        {
            console.MarkupLineInterpolated($"[red]  {run.Errors}[/]");
        }
    }

    private static ResultRow CreateRow(ChaosResult result)
    {
        IReadOnlyList<ContainedRun> runs = result.Runs;
        return new ResultRow(
            [
                result.Scenario.Name, result.Scenario.Title, result.Way.Title,
                runs.SelectMany(result.FindFaults).FirstOrDefault() ?? "passed"],
            [
                result.Scenario.LimitMegabytes, result.Passed, runs.Count, runs.Count(
                    run => run.Ending == RunEnding.Killed), Average(JobEnd.Done),
                Average(JobEnd.Refused) + Average(JobEnd.RefusedForGood), Average(JobEnd.Vanished), Average(JobEnd.Damaged),
                Most(job => job.Seconds), Most(job => job.WaitedSeconds), runs.Max(run => run.PeakBytes) / Mebibyte,
            ]);

        double Average(JobEnd end) => runs.Average(run => run.Count(end));

        double? Most(Func<JobMessage, double> figure)
            => runs.SelectMany(run => run.Jobs).Select(job => (double?)figure(job)).DefaultIfEmpty().Max();
    }

    private static string Text(FormattableString text) => FormattableString.Invariant(text);
}

namespace LoadResizeSave.Chaos;

/// <summary>The runs of one scenario with one way of having memory.</summary>
internal sealed record ChaosResult(ChaosScenario Scenario, MemoryWay Way)
{
    public List<ContainedRun> Runs { get; } = [];

    public int Passed => Runs.Count(run => FindFaults(run).Count == 0);

    public IReadOnlyList<string> FindFaults(ContainedRun run) => [.. Scenario.FindFaults(run, mayRefuse: Way.Claim?.MayFail ?? true)];
}

/// <summary>The command that has things go wrong around jobs in a container: runs the scenarios, and judges each run.</summary>
internal static class ChaosMeasurement
{
    private const double Mebibyte = 1 << 20;
    private const int QuickJobs = 24;

    // What is abandoned comes back after a collection and a trim period: a minute by default, which a run should not last.
    private const double TrimPeriodSeconds = 1;
    private const double SettleSeconds = 0.5;

    private static readonly Option<string?> s_input = ContainerOptions.Input();
    private static readonly Option<string[]> s_scenarios = ContainerOptions.Names(
        "--scenarios", "What goes wrong.", ChaosScenario.All.Select(scenario => scenario.Name), ContainerOptions.All);

    private static readonly Option<string[]> s_ways = ContainerOptions.Ways("reserve");
    private static readonly Option<int> s_runs = ContainerOptions.Number("--runs", "Runs of each scenario.", 3);

    public static Command Create() => new Command(
        "chaos", "Makes photographs smaller in a memory cgroup while things go wrong, and says what passed.")
    {
        s_input, s_scenarios, s_ways, s_runs,
    }.MeasuresContainers("LoadResizeSave-chaos", MeasureAsync);

    private static async Task<ResultDocument> MeasureAsync(MeasurementRun run, CancellationToken cancellationToken)
    {
        string[] names = run.Get(s_scenarios);
        (IReadOnlyList<string> pictures, string origin)
            = new ContainerPictures(run.Get(s_input), ContainerOptions.WorkFolder).GetPhotographs();
        List<ChaosResult> results =
        [
            .. from scenario in ChaosScenario.All
               where names.Contains(ContainerOptions.All) || names.Contains(scenario.Name)
               from way in ContainerOptions.GetWays(run.Get(s_ways))
               select new ChaosResult(run.IsQuick ? scenario with { Jobs = QuickJobs } : scenario, way),
        ];
        foreach (ChaosResult result in results)
        {
            for (int i = 0; i < run.Get(s_runs, 1); i++)
            {
                await RunAsync(result, i, pictures, run.Console, cancellationToken);
            }

            if (result.Passed < result.Runs.Count)
            {
                run.Failures.Add($"{result.Scenario.Name}, {result.Way.Name}: {result.Passed} of {result.Runs.Count} runs passed");
            }
        }

        return Complete(run.NewDocument("What may go wrong around photographs in a container"), results, origin);
    }

    private static ResultDocument Complete(ResultDocument document, IReadOnlyList<ChaosResult> results, string origin) => document with
    {
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
            Invariant($"No job may take longer than {ChaosScenario.LongestQuietJob} s and what the scenario itself takes."),
            "In the end every counter of the library must be zero: nothing outstanding, quarantined or taken of a budget.",
            Invariant($"The library looks at idle memory every {TrimPeriodSeconds} s, so that what was abandoned is back within seconds."),
            "No environment variable that concerns memory is set.",
        ],
    };

    private static async Task RunAsync(
        ChaosResult result, int index, IReadOnlyList<string> pictures, IAnsiConsole console, CancellationToken cancellationToken)
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
        ContainedRun run = await ContainedProcess.RunAsync(
            ContainedJobs.Task.Describe(options), scenario.LimitMegabytes, scenario.Disturb, cancellationToken);
        result.Runs.Add(run);
        IReadOnlyList<string> faults = result.FindFaults(run);
        string outcome = faults.Count == 0 ? "passed" : "FAILED";
        console.WriteLine(Invariant($"{scenario.Name,-10} {way.Name,-10} run {index + 1}: {outcome}, {run.Describe()}"));
        foreach (string fault in faults)
        {
            console.MarkupLineInterpolated($"[red]  {fault}[/]");
        }

        run.WriteFaults(console);
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
}

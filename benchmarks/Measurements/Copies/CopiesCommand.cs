namespace Measurements.Copies;

/// <summary>
/// A scanned page allocated and copied, over five kinds of memory. In each trial every test, and of each test every kind of memory in
/// turn. Only one process works at a time: whatever else the machine does falls on all kinds.
/// </summary>
internal static class CopiesCommand
{
    // Comparing costs as much as copying: some trials stand for all.
    private const int TrialsPerComparison = 100;

    // Without page faults trials differ less, and fewer are enough.
    private const int TrialsPerWarmTrial = 25;

    private static readonly Option<int> s_trials = new Option<int>("--trials")
    {
        Description = $"How many trials each mean is over; a {TrialsPerWarmTrial}th of it for copies alone.",
        DefaultValueFactory = _ => 500,
    }.Between(1, 100_000);

    private static int s_seed;

    public static Command Create() => new Command(
        "copies", "Allocates memory for an A4 page at 300 dpi and copies it in several ways, from five kinds of unmanaged memory.")
    {
        s_trials,
    }.Measures("A4Copy", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        long start = Stopwatch.GetTimestamp();
        int trials = run.Get(s_trials, 2);
        IReadOnlyList<string> methods = [.. PageCopies.All.Select(method => method.Name)];
        TrialTable fresh = new([$"allocate and free × {CopyBench.AllocationsPerTrial}", .. methods]);
        TrialTable warm = new(methods);
        run.Console.Progress().Start(progress =>
        {
            int warmTrials = Math.Max(1, trials / TrialsPerWarmTrial);
            ProgressTask freshTask = progress.AddTask("allocate, copy, free", maxValue: trials);
            ProgressTask warmTask = progress.AddTask("copy alone", autoStart: false, maxValue: warmTrials);
            List<CopyProcess> processes = [.. PageSource.Kinds.Select((_, kind) => new CopyProcess(kind))];
            processes.ForEach(process => process.Read());
            Run(processes, fresh, trials, isWarm: false, freshTask);
            warmTask.StartTask();
            Run(processes, warm, warmTrials, isWarm: true, warmTask);
            processes.ForEach(process => process.Dispose());
        });
        return CopyReport.Complete(
            run.NewDocument("A4Copy: copying a page between buffers of five kinds of "
                + "memory"), fresh, warm, Stopwatch.GetElapsedTime(start));
    }

    private static void Run(List<CopyProcess> processes, TrialTable table, int trials, bool isWarm, ProgressTask task)
    {
        int tests = table.Tests.Count;

        // One before the first is not counted: pools are empty in it, and code is not compiled for the size.
        for (int trial = -1; trial < trials; trial++)
        {
            bool isCompared = trial % TrialsPerComparison == 0 || trial == trials - 1;
            for (int place = 0; place < tests; place++)
            {
                // Forwards and backwards in turn. Two tests a trial allocate an array, and the collector runs after every other one, so
                // that
                // each second array is fresh from the system, at more than the cost of the copy: always that of the same test otherwise.
                int test = trial % 2 == 0 ? place : tests - 1 - place;
                CopyStep step = new(isWarm, isWarm ? test + 1 : test, s_seed++, isCompared);
                for (int turn = 0; turn < processes.Count; turn++)
                {
                    // Another one begins each time: the first finds the caches as the test before left them.
                    int kind = (turn + trial + 1) % processes.Count;
                    Trial result = processes[kind].Run(step);
                    if (trial >= 0)
                    {
                        table.Add(test, kind, result);
                    }
                }
            }

            task.Value(trial + 1);
        }
    }
}

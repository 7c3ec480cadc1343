namespace Measurements.Heaps;

/// <summary>Threads that allocate and free at once: a child for each heap, size class and number of threads.</summary>
internal sealed class HeapsCommand
{
    private const string All = "all";
    private const double Megabyte = 1e6;

    // The pool has two ways: arrays up to 1 MiB, blocks above. Batches are shorter where 32 threads would hold more than 512 MiB.
    private static readonly SizeClass[] s_classes =
    [
        new(16, 64, false), new(4 << 10, 64, false), new(64 << 10, 64, false), new(1 << 20, 16, true), new(4 << 20, 4, false),
        new(4 << 20, 4, true),
    ];

    private static readonly Option<string[]> s_heap = new Option<string[]>("--heap")
    {
        Description = "Heaps to compare.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [All],
    }.AcceptOnlyFromAmong([All, .. HeapNames.OfOptions]);

    private static readonly Option<int[]> s_threads = new Option<int[]>("--threads")
    {
        Description = "Numbers of threads.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [1, 2, 8, 32],
    }.Between(1, 1024);

    private static readonly Option<int> s_runs =
        new Option<int>("--runs") { Description = "How many runs each mean is over.", DefaultValueFactory = _ => 10 }.Between(1, 1000);

    private readonly HeapFigures _figures;
    private readonly List<string> _remarks = [];
    private readonly HashSet<HeapKind> _unavailable = [];

    private HeapsCommand(HeapFigures figures) => _figures = figures;

    public static Command Create() => new Command(
        "heaps", "Allocates and frees from 1 to 32 threads at once, and compares the pool with ArrayPool and native heaps in time "
            + "and peak memory.")
    {
        s_heap, s_threads, s_runs,
    }.Measures("HeapPerf", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        string[] heaps = run.Get(s_heap);
        HeapFigures figures = new(
            heaps.Contains(All) ? Enum.GetValues<HeapKind>() : [.. heaps.Select(HeapNames.Parse).Distinct().Order()],
            [.. run.Get(s_threads, [1, 4]).Distinct().Order()],
            run.IsQuick ? [s_classes[0], s_classes[^1]] : s_classes,
            run.Get(s_runs, 2));
        HeapsCommand command = new(figures);
        long start = Stopwatch.GetTimestamp();
        HeapNotes notes = run.IsQuick ? new(figures, 1, 1) : new(figures, 20, 3);
        run.Console.Progress().Start(progress =>
        {
            ProgressTask task = progress.AddTask(
                "heaps", maxValue: figures.Classes.Count * figures.Threads.Count * figures.AllHeaps.Count);
            command.Measure(notes, run.IsQuick ? 5 : 3000, task);
        });
        return run.NewDocument("HeapPerf: threads that allocate and free at the same time") with
        {
            Tables = HeapTables.Create(figures),
            Charts = HeapTables.CreateCharts(figures),
            Notes =
            [
                .. notes.Write(), .. command._remarks,
                Invariant($"elapsed   {Stopwatch.GetElapsedTime(start).TotalSeconds:0.0} s"),
            ],
        };
    }

    private void Measure(HeapNotes lengths, double warmUp, ProgressTask task)
    {
        foreach (SizeClass sizeClass in _figures.Classes)
        {
            foreach (int threads in _figures.Threads)
            {
                double length = Math.Max(lengths.ShortestRun, lengths.ThreadTime * threads / Environment.ProcessorCount);

                // Heaps in turn, so that whatever else the machine does meanwhile falls on neighbouring figures of all of them.
                foreach (HeapKind heap in _figures.AllHeaps)
                {
                    if (!_unavailable.Contains(heap) && HasRoom(sizeClass, threads))
                    {
                        Measure(new HeapRequest(heap, sizeClass, threads, _figures.Runs, length, warmUp));
                    }

                    task.Increment(1);
                }
            }
        }
    }

    private void Measure(HeapRequest request)
    {
        try
        {
            HeapResult result = HeapTrial.Task.Run(request, HeapTrial.Prepare);
            if (result.Unavailable is null)
            {
                _figures.Add(request, result);
            }
            else if (_unavailable.Add(request.Heap))
            {
                _remarks.Add($"{HeapNames.Of(request.Heap)} is left out: {result.Unavailable}.");
            }
        }
        catch (ChildFailedException exception)
        {
            _remarks.Add($"{HeapNames.Of(request.Heap)}, {request.Class.Name}, {request.Threads} threads failed: {exception.Message}");
        }
    }

    // Beyond half of the memory the system would begin to swap or to kill.
    private bool HasRoom(SizeClass sizeClass, int threads)
    {
        long needed = (long)sizeClass.SizeInBytes * sizeClass.Blocks * threads;
        long limit = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 2;
        string remark = $"{sizeClass.Name} with {threads} threads is left out: it holds {needed / Megabyte:N0} MB, more than half of the "
                + $"memory ({limit / Megabyte:N0} MB).";
        if (needed > limit && !_remarks.Contains(remark))
        {
            _remarks.Add(remark);
        }

        return needed <= limit;
    }
}

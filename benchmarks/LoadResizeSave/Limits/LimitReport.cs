namespace LoadResizeSave.Limits;

/// <summary>The result of trials in containers: a table for each limit, and charts of speed and page faults.</summary>
internal sealed class LimitReport(IReadOnlyList<TrialResult> results, JobOptions options, ProcessBase processBase, int pictures)
{
    public string Title => Invariant($"Load, resize, save in memory cgroups of {string.Join(" and ", options.MemoryLimits)} MiB");

    public ResultDocument Complete(ResultDocument document) => document with
    {
        Program = document.Program + "-memory-limit",
        Tables = [.. results.Select(result => result.Trial.LimitMegabytes).Distinct().Select(CreateTable)],
        Notes = [.. Notes()],
        Charts =
        [
            .. options.MemoryLimits.SelectMany(limit => (ResultChart[])
            [
                Chart(limit, "Photographs a second", "photographs a second", result => result.PicturesPerSecond),
                Chart(limit, "Page faults a pass", "page faults a pass", result => result.PageFaultsOfPass),
            ]),
        ],
    };

    private ResultTable CreateTable(int? limit) => new()
    {
        Title = limit is null ? "Without a limit" : Invariant($"In {limit} MiB"),
        Labels = ["at once", "allocator", "outcome"],
        Columns =
        [
            new("photographs", "a second", "0.0"), new("CPU", "seconds a pass", "0.00"), new("CPU to unlimited pool", "×", "0.00"),
            new("page faults", "a pass", "N0"), new("faults to unlimited pool", "×", "0.00"), new("peak RSS", "MB", "0"),
            new("peak of cgroup", "MB", "0"), new("waits", "for the budget", "N0"),
        ],
        Rows = [.. results.Where(result => result.Trial.LimitMegabytes == limit).Select(CreateRow)],
    };

    private ResultRow CreateRow(TrialResult result)
    {
        TrialResult? reference = results.FirstOrDefault(other =>
            other.Trial is { LimitMegabytes: null, Allocator: AllocatorKind.Pool } && other.Trial.Parallelism == result.Trial.Parallelism);
        string budget = result.Trial.BudgetMegabytes is { } megabytes ? Invariant($" of {megabytes} MiB") : "";
        return new ResultRow(
            [Invariant($"{result.Trial.Parallelism}"), JobText.Name(result.Trial.Allocator) + budget, result.Outcome(pictures)],
            [
                result.PicturesPerSecond, result.CpuSecondsOfPass, result.CpuSecondsOfPass / reference?.CpuSecondsOfPass,
                result.PageFaultsOfPass, result.PageFaultsOfPass / reference?.PageFaultsOfPass, result.Run?.PeakResidentBytes / 1e6,
                result.PeakBytes / 1e6, result.Run?.Statistics?.BudgetWaits,
            ]);
    }

    private ResultChart Chart(int limit, string title, string label, Func<TrialResult, double?> figure) => new()
    {
        Title = Invariant($"{title} in {limit} MiB (no bar: killed, or pictures refused)"),
        Kind = ChartKind.Bars,
        X = "pictures worked on at once",
        Y = label,
        Categories = [.. options.Parallelisms.Select(parallelism => Invariant($"{parallelism}"))],
        Series =
        [
            Series("pool, no limit", null, AllocatorKind.Pool, figure),
            .. options.Allocators.Select(kind => Series(JobText.Name(kind), limit, kind, figure)),
        ],
    };

    private ResultSeries Series(string name, int? limit, AllocatorKind kind, Func<TrialResult, double?> figure) => new(
        name,
        [
            .. from result in results
               where result.Trial.LimitMegabytes == limit && result.Trial.Allocator == kind && result.Outcome(pictures) == "finished"
               select new ResultPoint(options.Parallelisms.ToList().IndexOf(result.Trial.Parallelism), figure(result)!.Value),
        ]);

    private IEnumerable<string> Notes() =>
    [
        Invariant($"Each trial is a process in a memory cgroup of its own, without swap, which goes through the folder {options.Repeat} ")
            + Invariant($"times: {pictures / options.Repeat} pictures, to a width of {JobOptions.Width}."),
        "Killed: the kernel's out-of-memory killer ended it. Refused: pictures for which an allocation threw.",
        "Figures of a pass are those after the first, in which memory and code are new. Where pictures were refused they are of fewer "
            + "pictures.",
        "The peak of a cgroup includes cached files, which the kernel drops before it kills; so with a limit it tends to reach it in "
            + "any case.",
        Invariant(
            $"The budget is nine tenths of the limit, less the {processBase.Bytes / 1e6:0} MB that the process holds when all pixels ")
            + "are back, and less the GCHeapHardLimit. Each picture reserves all that it may take, the codec's own memory included, "
            + "before it is read, and says when the codec takes that; the pool may retain all of the budget.",
        Invariant($"With a budget goes a GCHeapHardLimit of {ProcessBase.HeapLimitInBytes >> 20} MiB; the others have the runtime's ")
            + "default of three quarters of the limit. All run with MALLOC_MMAP_THRESHOLD_ of 1 MiB, so that what codecs free goes back "
            + "to the system.",
    ];
}

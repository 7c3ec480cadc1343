namespace ThumbnailService.Reporting;

/// <summary>The result: a table of the trials, and their memory over time with the limit as a line.</summary>
internal sealed class ServiceReport(
    ServiceLoad load, int files, ProcessBase processBase, IReadOnlyList<ServiceTrialResult> results, string? noCgroup)
{
    public const string Title = "A thumbnail service under more load than fits its memory";

    private const double Mebibyte = 1 << 20;
    private const double Usual = 0.5;
    private const double Late = 0.95;

    // A chart as wide as a page shows no more.
    private const int MostPoints = 400;

    private readonly ProcessBase _base = processBase;

    public ResultDocument Complete(ResultDocument document) => document with
    {
        Tables = [CreateTable()],
        Notes = [.. Notes()],
        Charts =
        [
            new ResultChart
            {
                Title = Invariant($"Memory of the service while {load.Clients} clients upload at once"),
                Kind = ChartKind.Lines,
                X = "seconds",
                Y = noCgroup is null ? "memory charged to its cgroup, MiB" : "resident memory, MiB",
                Series = [.. results.Select(Memory), Limit()],
            },
        ],
    };

    private ResultTable CreateTable() => new()
    {
        Title = Invariant($"{load.Requests} uploads, {load.Clients} at once"),
        Labels = ["service", "outcome"],
        Columns =
        [
            new("answered", null, "N0"), new("failed", null, "N0"), new("peak of cgroup", "MiB", "0"), new("peak RSS", "MiB", "0"),
            new("answers", "a second", "0.0"),
            new("median answer", "seconds", "0.0"), new("95 % within", "seconds", "0.0"), new("waits", "for the budget", "N0"),
        ],
        Rows = [.. results.Select(CreateRow)],
    };

    private static ResultRow CreateRow(ServiceTrialResult result)
    {
        List<double> seconds = [.. result.Outcomes.Where(outcome => outcome.Thumbnail is not null).Select(outcome => outcome.Seconds)];
        return new ResultRow(
            [Name(result.Trial), result.WasKilled ? "killed" : result.Answered == result.Requests ? "all answered" : "some failed"],
            [
                result.Answered, result.Requests - result.Answered, Mebibytes(result.PeakChargedBytes), Mebibytes(
                    result.PeakResidentBytes), result.Answered / result.Seconds,
                seconds.Count == 0
                    ? null
                    : Statistics.Percentile(seconds, Usual), seconds.Count == 0
                    ? null
                    : Statistics.Percentile(seconds, Late), result.Statistics?.BudgetWaits,
            ]);
    }

    private static ResultSeries Memory(ServiceTrialResult result)
    {
        // Of neighbours the highest is kept: a chart that leaves out peaks would show what is not so.
        int group = Math.Max(1, (int)Math.Ceiling(result.Memory.Count / (double)MostPoints));
        return new ResultSeries(
            result.Trial.Name + (result.WasKilled ? " (killed)" : ""),
            [
                .. result.Memory.Chunk(group)
                    .Select(
                        points => new ResultPoint(
                            Math.Round(points[0].Seconds, 2), Math.Round(points.Max(point => point.ChargedBytes) / Mebibyte, 1))),
            ]);
    }

    private ResultSeries Limit()
        => new(
            "the limit",
            [new ResultPoint(0, load.LimitMegabytes), new ResultPoint(results.Max(result => result.Seconds), load.LimitMegabytes)]);

    private IEnumerable<string> Notes() =>
    [
        $"{load.Clients} clients send {files} pictures again and again, {load.Requests} in all, each as soon as it has its "
                + "last thumbnail. Server and clients are processes of their own on the same machine.",
        $"The budget is nine tenths of the limit, less the {_base.Bytes / Mebibyte:0} MiB that the service holds without a "
                + "request, and less the GCHeapHardLimit. A request reserves all that it may take as soon as its header "
                    + $"is read, and until then the rest of it stays on the connection.",
        "Without a budget the service is the same program with the same pool: it reads what comes, and works on as many pictures as it "
            + "gets threads.",
        $"With a budget goes a GCHeapHardLimit of {ProcessBase.HeapLimitInBytes >> 20} MiB; the others have the runtime's "
                + "default. All run with a MALLOC_MMAP_THRESHOLD_ of 1 MiB, so that what codecs free goes back to the system.",
        noCgroup is null
            ? "The peak of a cgroup is the kernel's own high-water mark, cached files included; resident memory and the lines of the "
                + "chart were read every 50 milliseconds."
            : $"No cgroup could be made, so no limit was enforced, and memory is the resident set, read every 50 milliseconds. "
                    + $"{noCgroup}",
    ];

    private static string Name(ServiceTrial trial)
        => trial.BudgetMegabytes is { } budget ? Invariant($"{trial.Name} of {budget} MiB, limit {trial.LimitMegabytes} MiB") : trial.Name;

    private static double? Mebibytes(long? bytes) => bytes / Mebibyte;
}

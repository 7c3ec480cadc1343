using LoadResizeSave.Containers;
using Measuring.Timing;

namespace LoadResizeSave.Mixed;

/// <summary>Runs the mixed load with each way of having memory in turn.</summary>
internal sealed class MixedMeasurement(MixedLoad load, IAnsiConsole console)
{
    private const string Program = "LoadResizeSave-mixed";
    private const double Mebibyte = 1 << 20;
    private const double Usual = 0.5;
    private const double SettleSeconds = 1;

    private readonly MixedLoad _load = load;

    /// <summary>Measures; the failures are the ways of the library with runs that were not as they should be.</summary>
    public async Task<(ResultDocument Document, IReadOnlyList<string> Failures)> RunAsync(
        ResultDocument empty, CancellationToken cancellationToken)
    {
        ContainerPictures pictures = new(null, ContainerOptions.WorkFolder);
        (IReadOnlyList<string> mixed, IReadOnlyList<string> small) = (pictures.GetMixed(), pictures.GetSmall());
        List<MixedResult> results = [.. _load.Ways.Select(way => new MixedResult(way, _load.Jobs))];
        Stopwatch clock = Stopwatch.StartNew();
        for (int i = 0; i < _load.Runs && clock.Elapsed < _load.Time; i++)
        {
            foreach (MixedResult result in results)
            {
                await RunAsync(result, i, mixed, small, cancellationToken);
            }
        }

        string title = Text($"JPEGs and PNGs of mixed sizes in a container of {_load.LimitMegabytes} MiB");
        return (
            Complete(empty with { Title = title }, results, _load),
            [
                .. from result in results
                   where result.Way.IsOfLibrary && result.Good < result.Runs.Count
                   select Text($"{result.Way.Name}: {result.Good} of {result.Runs.Count} runs were good"),
            ]);
    }

    public static ResultDocument Complete(ResultDocument document, IReadOnlyList<MixedResult> results, MixedLoad load) => document with
    {
        Program = Program,
        Tables =
        [
            new ResultTable
            {
                Title = Text($"{load.Jobs} jobs, {load.Workers} at once"),
                Labels = ["memory", "outcome"],
                Columns =
                [
                    new("runs", null, "N0"), new("killed", "runs", "N0"), new("done", "a run", "0.0"), new("refused", "a run", "0.0"),
                    new("failed", "a run", "0.0"), new("done", "a second", "0.0"), new("peak of cgroup", "MiB", "0"),
                    new("more than at the start", "MiB, median", "0.0"), new("more than at the start", "MiB, most", "0.0"),
                    new("after a collection", "MiB, most", "0.0"), new("slowest job", "seconds", "0.0"),
                ],
                Rows = [.. results.Where(result => result.Runs.Count > 0).Select(CreateRow)],
            },
        ],
        Notes =
        [
            "Ten pictures of 0.3 to 15 megapixels, six of them JPEG, four PNG, in turn; each is read, decoded, made a quarter as wide and "
                + "as high, and encoded in its own format, by libjpeg-turbo and by this program's PNG codec over the base library's zlib.",
            "No environment variable that concerns memory is set.",
            "A run is good when each job is done or was refused, no counter of the library is above zero, and the memory is back.",
            Text($"It is back when at most {MixedResult.MostLeftBytes >> 20} MiB more than at the start is charged, without cached files")
                + ", after ReleaseRetainedResources and a collection: arrays that the library has dropped are garbage until then.",
            "The start is after one small picture in each format on each thread, and ReleaseRetainedResources.",
            Text($"What is charged after that call alone was read {SettleSeconds} second after the last job."),
        ],
    };

    private async Task RunAsync(
        MixedResult result, int index, IReadOnlyList<string> pictures, IReadOnlyList<string> small, CancellationToken cancellationToken)
    {
        ContainedOptions options = new()
        {
            Way = result.Way.Name,
            LimitMegabytes = _load.LimitMegabytes,
            Workers = _load.Workers,
            Jobs = _load.Jobs,
            Pictures = pictures,
            WarmUp = small,
            SettleSeconds = SettleSeconds,
        };
        ContainedRun run = await ContainedProcess.RunAsync(options, _load.LimitMegabytes, cancellationToken: cancellationToken);
        result.Add(run);
        string fault = MixedResult.FindFault(run, _load.Jobs) ?? "good";
        console.WriteLine(Text($"{result.Way.Name,-10} run {index + 1,2}: {fault}, {run.Describe()}"));
        if (run.Run is { } end)
        {
            console.WriteLine($"  before    {end.Before.Describe()}");
            console.WriteLine($"  after     {end.After.Describe()}");
            console.WriteLine($"  collected {end.Collected.Describe()}");
        }
        else
        {
            console.MarkupLineInterpolated($"[yellow]  exit code {run.ExitCode}. {run.Errors.Split('\n')[0]}[/]");
        }

        foreach (IGrouping<string?, JobMessage> failed in run.Jobs.Where(job => job.End == JobEnd.Failed).GroupBy(job => job.Reason))
        {
            console.MarkupLineInterpolated($"[yellow]  {failed.Count()} times: {failed.Key}[/]");
        }
    }

    private static ResultRow CreateRow(MixedResult result) => new(
        [
            result.Way.Title,
            result.Good == result.Runs.Count ? Text($"all {result.Good} good") : Text($"{result.Good} of {result.Runs.Count} good"),
        ],
        [
            result.Runs.Count,
            result.Runs.Count(run => run.Ending == RunEnding.Killed),
            result.Runs.Average(run => run.Count(JobEnd.Done)),
            result.Runs.Average(run => run.Count(JobEnd.Refused) + run.Count(JobEnd.RefusedForGood)),
            result.Runs.Average(run => run.Count(JobEnd.Failed)),
            Median(result.Runs.Select(run => run.DonePerSecond).OfType<double>()),
            result.Runs.Max(run => run.PeakBytes) / Mebibyte,
            Median(result.LeftBytes.Select(bytes => bytes / Mebibyte)),
            Most(result.LeftBytes),
            Most(result.CollectedBytes),
            result.Runs.SelectMany(run => run.Jobs).Select(job => (double?)job.Seconds).DefaultIfEmpty().Max(),
        ]);

    private static double? Median(IEnumerable<double> values)
        => values.ToList() is { Count: > 0 } list ? Statistics.Percentile(list, Usual) : null;

    private static double? Most(IEnumerable<long> bytes) => bytes.Select(value => (double?)value).DefaultIfEmpty().Max() / Mebibyte;

    private static string Text(FormattableString text) => FormattableString.Invariant(text);
}

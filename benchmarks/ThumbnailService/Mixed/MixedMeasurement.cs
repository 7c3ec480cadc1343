namespace ThumbnailService.Mixed;

/// <summary>What one run of the service came to.</summary>
/// <param name="Kills">How often the kernel killed it.</param>
/// <param name="Seconds">The time to the last answer.</param>
/// <param name="Busy">The part of the processors' time that the service used meanwhile.</param>
internal sealed record MixedRun(
    MixedWay Way, MixedLoad Load, int Kills, double Seconds, double Busy, long PeakBytes, IReadOnlyCollection<MixedAnswer> Answers)
{
    public bool IsWhole => Answers.Count == Load.Files.Count && Answers.All(answer => answer.Status == 200);

    /// <summary>Gets the middle of the seconds that small pictures took; null where none was asked for.</summary>
    public double? SmallMedian => Answers.Any(answer => answer.IsSmall)
        ? Statistics.Median(Answers.Where(answer => answer.IsSmall).Select(answer => answer.Seconds))
        : null;
}

/// <summary>The load that users have, on a service that the guides build: beside plain ImageSharp behind a semaphore, in turn.</summary>
internal static class MixedMeasurement
{
    public const string Program = "ThumbnailService-mixed";

    private const string Title = "Large and small pictures in turn, in one container";
    private const string UsualClients = "64 clients";
    private const int Clients = 64;
    private const int ManyClients = 500;
    private const int QuickRequestsEach = 1;
    private const string QuickLoad = "64 clients, in turn with 400";

    private static readonly int[] s_smallWidths = [400, 640, 800];

    private static readonly Option<string?> s_input = ContainerOptions.Input();
    private static readonly Option<int> s_limit = ContainerOptions.Number("--limit", "MiB of the container.", 350, 96);
    private static readonly Option<int> s_runs = ContainerOptions.Number("--runs", "Runs of each way with each load.", 5);
    private static readonly Option<int> s_each = ContainerOptions.Number("--each", "Requests of each client.", 4);
    private static readonly Option<string[]> s_ways = ContainerOptions.Names(
        "--ways", "How the service keeps within the container.", MixedWay.All.Select(way => way.Name), ContainerOptions.All);

    private static readonly Option<string?> s_load = new("--load") { Description = "Only loads whose name contains this." };

    public static Command Create()
    {
        Command command = new("mixed", "Has 64 and 500 clients ask for thumbnails of large and small pictures in turn.")
        {
            s_input, s_limit, s_runs, s_each, s_ways, s_load,
        };
        return command.MeasuresContainers(Program, MeasureAsync);
    }

    private static async Task<ResultDocument> MeasureAsync(MeasurementRun run, CancellationToken cancellationToken)
    {
        MixedPictures pictures = MixedPictures.Get(run.Get(s_input));
        string[] names = run.Get(s_ways);
        IReadOnlyList<MixedWay> ways = names.Contains(ContainerOptions.All) ? MixedWay.All : [.. names.Select(MixedWay.Get)];
        string part = run.Get(s_load, QuickLoad) ?? "";
        IReadOnlyList<MixedLoad> loads = [
            .. CreateLoads(pictures, run.Get(s_each, QuickRequestsEach)).Where(load => load.Name.Contains(part, StringComparison.Ordinal))];
        int limit = run.Get(s_limit);
        List<MixedRun> results = [];
        for (int i = 0; i < run.Get(s_runs, 1); i++)
        {
            foreach (MixedLoad load in loads)
            {
                foreach (MixedWay way in ways)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    results.Add(await RunAsync(run, way, load, pictures.Folder, limit));
                }
            }
        }

        ResultDocument document = run.NewDocument(Title);
        return document with
        {
            Program = limit == 350 ? Program : Invariant($"{Program}-{limit}"),
            Tables = [.. loads.Select(load => CreateTable(load, limit, [.. results.Where(result => result.Load == load)]))],
            Notes =
            [
                $"Photographs: {pictures.Origin}. Each run is a fresh process without any setting.",
                "Ratios are to the faster semaphore with which every run was answered in full.",
                "The first requests of each run teach what a picture takes; a semaphore was given its number.",
            ],
        };
    }

    private static IEnumerable<MixedLoad> CreateLoads(MixedPictures pictures, int each)
    {
        int requests = Clients * each;
        foreach (int width in s_smallWidths)
        {
            IReadOnlyList<string> small = pictures.GetSmall(width);
            yield return Create(Invariant($"{UsualClients}, in turn with {width} pixels"), i =>
                i % 2 == 0 ? Pick(pictures.Large, i / 2) : Pick(small, i / 2));
        }

        IReadOnlyList<string> tiny = pictures.GetSmall(s_smallWidths[0]);
        yield return Create($"{UsualClients}, some progressive, in turn with {s_smallWidths[0]} pixels", i =>
            i % 2 != 0 ? Pick(tiny, i / 2) : i % 8 == 6 ? Pick(pictures.Progressive, i / 8) : Pick(pictures.Large, i / 2));
        yield return Create($"{UsualClients}, small ones first", i => i < requests / 2 ? Pick(tiny, i) : Pick(pictures.Large, i));
        yield return Create($"{UsualClients}, large ones only", i => Pick(pictures.Large, i));
        yield return new MixedLoad(
            $"{ManyClients} clients, small ones only", ManyClients,
            [.. Enumerable.Range(0, ManyClients * each).Select(i => Pick(tiny, i))], tiny.ToHashSet());

        static string Pick(IReadOnlyList<string> names, int index) => names[index % names.Count];

        MixedLoad Create(string name, Func<int, string> pick)
        {
            List<string> files = [.. Enumerable.Range(0, requests).Select(pick)];
            return new MixedLoad(name, Clients, files, files.Where(file => file.StartsWith("small-", StringComparison.Ordinal)).ToHashSet());
        }
    }

    private static async Task<MixedRun> RunAsync(MeasurementRun run, MixedWay way, MixedLoad load, string folder, int limit)
    {
        using MemoryCgroup group = MemoryCgroup.Create(limit * (1L << 20));
        using ServiceProcess service = await ServiceProcess.StartAsync(group, MixedService.CommandName, way.Name, folder);
        TimeSpan before = service.ProcessorTime;
        long started = Stopwatch.GetTimestamp();
        IReadOnlyCollection<MixedAnswer> answers = await load.RunAsync(service.Address);
        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        double used = Math.Max(0, (service.ProcessorTime - before).TotalSeconds);
        MixedRun result = new(
            way, load, group.Kills, seconds, used / (seconds * Environment.ProcessorCount), group.PeakBytes ?? 0, answers);
        string statuses = string.Join(", ", answers.CountBy(answer => answer.Status).OrderBy(pair => pair.Key)
            .Select(pair => Invariant($"{pair.Value} × {(pair.Key == 0 ? "no answer" : pair.Key)}")));
        run.Console.WriteLine(Invariant($"{load.Name}, {way.Title}: {statuses}, {seconds:0.0} s, processors {result.Busy:P0} ({used:0.0} s), ")
            + Invariant($"small {result.SmallMedian:0.00} s, peak {result.PeakBytes >> 20} MiB{(result.Kills > 0 ? ", killed" : "")}"));
        if (way.IsOurs && !result.IsWhole)
        {
            run.Failures.Add($"{load.Name}, {way.Title}: {statuses} {service.Errors[..Math.Min(service.Errors.Length, 2000)]}");
        }

        return result;
    }

    /// <summary>Returns the table of one load: each way beside the faster semaphore with which every run was answered in full.</summary>
    public static ResultTable CreateTable(MixedLoad load, int limit, IReadOnlyList<MixedRun> results)
    {
        List<IGrouping<MixedWay, MixedRun>> ways = [.. results.GroupBy(result => result.Way)];
        List<MixedRun>? best = ways.Where(runs => !runs.Key.IsOurs && runs.All(result => result.IsWhole))
            .OrderBy(Seconds).Select(runs => runs.ToList()).FirstOrDefault();
        return new ResultTable
        {
            Title = Invariant($"{load.Name}, {load.Files.Count} requests, {limit} MiB"),
            Labels = ["service"],
            Columns =
            [
                new("runs", null, "N0"), new("killed", "runs", "N0"), new("answered 200", "least", "N0"),
                new("all answers", "s, median", "0.0"), new("all answers", "× semaphore", "0.00"),
                new("a small one", "s, median", "0.00"), new("a small one", "× semaphore", "0.00"),
                new("processors busy", "%", "0"), new("peak", "MiB, most", "0"),
            ],
            Rows = [.. ways.Select(runs => new ResultRow(
                [runs.Key.Title],
                [
                    runs.Count(), runs.Count(result => result.Kills > 0), runs.Min(CountWhole),
                    Seconds(runs), best is null ? null : Seconds(runs) / Seconds(best),
                    Small(runs), best is null ? null : Small(runs) / Small(best),
                    100 * Statistics.Median(runs.Select(result => result.Busy)), runs.Max(result => result.PeakBytes >> 20),
                ]))],
        };

        static double Seconds(IEnumerable<MixedRun> runs) => Statistics.Median(runs.Select(result => result.Seconds));

        static double CountWhole(MixedRun result) => result.Answers.Count(answer => answer.Status == 200);

        static double? Small(IEnumerable<MixedRun> runs)
        {
            List<double> medians = [.. runs.Select(result => result.SmallMedian).OfType<double>()];
            return medians.Count == 0 ? null : Statistics.Median(medians);
        }
    }
}

namespace Measurements.Everything;

/// <summary>One command of those that make all results of a machine.</summary>
/// <param name="Name">What <c>--only</c> calls it.</param>
/// <param name="Project">The program's folder below <c>benchmarks</c>.</param>
/// <param name="Result">The name of its result file, without the ending.</param>
/// <param name="Minutes">How long it took on 2 cores; a result of this machine says it better.</param>
/// <param name="Arguments">What follows the program, but for <c>--output</c> and <c>--quick</c>.</param>
internal sealed record ResultPart(string Name, string Project, string Result, double Minutes, params string[] Arguments)
{
    private const string Here = "Measurements";
    private const string Job = "LoadResizeSave";
    private const string Service = "ThumbnailService";
    private const string Analyzers = "analyzers";

    // Of LoadResizeSave, what some parts have nothing to do with. Survival orders and sums up runs; what a run does is in Containers.
    private const string Survival = "Survival";
    private const string Chaos = "Chaos";
    private const string Pipelines = "Pipelines";
    private const string Running = "Running/Job*.cs";

    // What some parts compile or start beside their own code.
    private static readonly string[] s_sample = ["tests/AotSample"];
    private static readonly string[] s_runtimes = ["tests/platforms/coreclr"];
    private static readonly string[] s_guide = ["tests/Allocator.AspNetCore.Tests/GuideSurvivalTests.cs"];

    // Once for all parts: to describe a machine takes a measurement.
    private static readonly Lazy<string> s_machine = new(static () => MachineText.Describe(ThisMachine.Describe()));

    /// <summary>Gets all parts; the first ones are those that the README quotes.</summary>
    public static IReadOnlyList<ResultPart> All { get; } =
    [
        new("reach", Here, "Reach", 27, "reach"),
        new(
            "job", Job, "LoadResizeSave", 8,
            "--runs", "15", "--allocator", "pool", "unpooled", "arraypool", "--repeat", "3", "--count", "6"),
        new("pipelines", Job, "LoadResizeSave-pipelines", 27, "--pipelines", "--container", "350"),
        new("survive", Job, "LoadResizeSave-survival", 20, "survive", "--runs", "1", "--claim-runs", "4", "--minutes", "30"),
        new(
            "bursts", Job, "LoadResizeSave-bursts", 90,
            "survive", "--ways", "reserve", "learned", "ambient", "--budgets", "0", "170", "200", "--limits", "350",
            "--at-once", "4", "16", "64", "--bursts", "2", "--claim-runs", "20", "--minutes", "90"),
        new("service", Service, "ThumbnailService", 5, "--limits", "512", "256"),
        new("fragmentation", Here, "Fragmentation", 3, "fragmentation"),
        new("transfers", Here, "PageAlignedTransfer", 4, "transfers"),
        new("latency", Here, "Latency", 4, "latency"),
        new("instructions", Here, "Instructions", 6, "instructions"),
        new("heaps", Here, "HeapPerf", 15, "heaps"),
        new("copies", Here, "A4Copy", 3, "copies"),
        new("streams", Here, "Streams", 5, "streams"),
        new("alignment", Here, "AlignedAllocation", 3, "alignment"),
        new("factors", Here, "EstimateFactors", 3, "factors"),
        new("threshold", Here, "MapThreshold", 3, "threshold"),
        new("retention", Here, "MallocRetention", 3, "retention"),
        new("populate", Here, "PopulatedMemory", 3, "populate"),
        new(Analyzers, Here, "AnalyzerReach", 12, Analyzers, "--sources", "tests/Allocator.Analyzers.Tests/Foreign"),
        new("chaos", Job, "LoadResizeSave-chaos", 8, "chaos", "--runs", "3"),
        new("service-400", Service, "ThumbnailService-400", 20, "--limits", "400", "--runs", "20"),
        new("uploads", Here, "GuideUploads", 14, "uploads"),
        new("benchmarks", "Allocator.Benchmarks", "Benchmarks", 16),
    ];

    /// <summary>Gets what this part measures: changes elsewhere, and to what only reports, leave its result as it is.</summary>
    public string[] Sources => Name == Analyzers
        ? ["src/Allocator.Analyzers", "benchmarks/Measuring", "benchmarks/Measurements/Analyzers"]
        :
        [
            "src", ":(exclude)src/Allocator.Analyzers", ":(exclude)src/Allocator.CodeFixes", "Directory.Packages.props",
            "benchmarks/Directory.Build.props", "benchmarks/Measuring", ":(exclude)benchmarks/Measuring/MeasurementCommand.cs",
            ":(exclude)benchmarks/Measuring/Results", ":(exclude)benchmarks/Measuring/Charts",
            ":(exclude)benchmarks/Measuring/Machines/ThisCommit.cs", .. Project switch
            {
                Here => [$"benchmarks/Measurements/{Folder}"],
                Job => (string[])[],
                Service => [$"benchmarks/{Project}", $":(exclude)benchmarks/{Project}/*Report.cs"],
                _ => [$"benchmarks/{Project}"],
            },
            .. Name switch
            {
                "job" => JobWithout(Survival, Chaos, Pipelines),
                "pipelines" => JobWithout(Survival, Chaos, Running),
                "chaos" => JobWithout(Survival, Pipelines, Running),
                "survive" or "bursts" or "service" or "service-400" or "factors" or "benchmarks"
                    => JobWithout(Survival, Chaos, Pipelines, Running),
                "threshold" => [.. JobWithout(Survival, Chaos, Running), "benchmarks/Measurements/Factors"],
                "instructions" => s_sample,
                "retention" => s_runtimes,
                "uploads" => s_guide,
                _ => [],
            },
        ];

    // Most commands have a folder of their name.
    private string Folder => Name is "threshold" or "populate" ? "Heaps" : char.ToUpperInvariant(Name[0]) + Name[1..];

    private static string[] JobWithout(params IEnumerable<string> folders) =>
    [
        "benchmarks/LoadResizeSave", ":(exclude)benchmarks/LoadResizeSave/*Report.cs",
        .. folders.Select(folder => $":(exclude)benchmarks/LoadResizeSave/{folder}"),
    ];

    /// <summary>Returns whether a result is of all of this part, on a machine like this one, and nothing in it has failed.</summary>
    public bool IsMadeAsHere(ResultDocument result) => result.Failures.Count == 0
        && result.Command.Split(" --output ")[0].EndsWith($" benchmarks/{Project} -- {string.Join(' ', Arguments)}".TrimEnd())
        && !result.Command.EndsWith(" --quick")
        && MachineText.Describe(result.Machine) == s_machine.Value;
}

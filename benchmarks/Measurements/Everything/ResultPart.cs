namespace Measurements.Everything;

/// <summary>One command of those that make all results of a machine.</summary>
/// <param name="Name">What <c>--only</c> calls it; of this program's parts, the command and its folder.</param>
/// <param name="Project">The program's folder below <c>benchmarks</c>.</param>
/// <param name="Result">The name of its result file, without the ending.</param>
/// <param name="Minutes">How long it took on 2 cores; a result of this machine says it better.</param>
/// <param name="Arguments">What follows the program, but for <c>--output</c> and <c>--quick</c>.</param>
internal sealed record ResultPart(string Name, string Project, string Result, double Minutes, params string[] Arguments)
{
    private const string Here = "Measurements";
    private const string Job = "LoadResizeSave";
    private const string Service = "ThumbnailService";

    // Of LoadResizeSave, what belongs to one of its commands alone. Survival orders and sums up runs; what a run does is in Containers.
    private static readonly (string Part, string Files)[] s_own =
        [("survive", "Survival"), ("chaos", "Chaos"), ("pipelines", "Pipelines"), ("job", "Running/Job*.cs")];

    // Once for all parts: to describe a machine takes a measurement.
    private static readonly Lazy<string> s_machine = new(static () => MachineText.Describe(ThisMachine.Describe()));

    /// <summary>Gets all parts; the first ones are those that the README shows.</summary>
    public static IReadOnlyList<ResultPart> All { get; } =
    [
        new(
            "job", Job, "LoadResizeSave", 8,
            "--runs", "15", "--allocator", "pool", "unpooled", "arraypool", "--repeat", "3", "--count", "6"),
        new("pipelines", Job, "LoadResizeSave-pipelines", 45, "--pipelines", "--container", "350"),
        new("survive", Job, "LoadResizeSave-survival", 20, "survive", "--runs", "1", "--claim-runs", "3", "--minutes", "20"),
        new(
            "bursts", Job, "LoadResizeSave-bursts", 25,
            "survive", "--ways", "reserve", "learned", "ambient", "--budgets", "0", "170", "200", "--limits", "350",
            "--at-once", "4", "16", "64", "--bursts", "2", "--claim-runs", "5", "--minutes", "25"),
        new("service", Service, "ThumbnailService", 3, "--limits", "512", "256"),
        new("mixed", Service, "ThumbnailService-mixed", 30, "mixed"),
        new("benchmarks", "Allocator.Benchmarks", "Benchmarks", 6),
        new("fragmentation", Here, "Fragmentation", 1, "fragmentation"),
        new("transfers", Here, "PageAlignedTransfer", 1, "transfers"),
        new("latency", Here, "Latency", 3, "latency"),
        new("instructions", Here, "Instructions", 1, "instructions"),
        new("heaps", Here, "HeapPerf", 15, "heaps"),
        new("copies", Here, "A4Copy", 3, "copies"),
        new("alignment", Here, "AlignedAllocation", 2, "alignment"),
        new("factors", Here, "EstimateFactors", 1, "factors"),
        new("chaos", Job, "LoadResizeSave-chaos", 8, "chaos", "--runs", "3"),
    ];

    /// <summary>Gets what this part measures: changes elsewhere, and to what only reports, leave its result as it is.</summary>
    public string[] Sources =>
    [
        "src", ":(exclude)src/Allocator.CodeFixes", "Directory.Packages.props", "benchmarks/Directory.Build.props",
        "benchmarks/Measuring", ":(exclude)benchmarks/Measuring/Results", ":(exclude)benchmarks/Measuring/Charts",
        ":(exclude)benchmarks/*Report.cs", .. Name == "benchmarks" ? (string[])[] : [":(exclude)src/Allocator.Analyzers"],
        Project == Here ? $"benchmarks/Measurements/{char.ToUpperInvariant(Name[0])}{Name[1..]}" : $"benchmarks/{Project}",
        .. Name == "instructions" ? (string[])["tests/AotSample"] : [],
        .. (Project == Here && Name != "factors") || Name == "benchmarks" ? (string[])[] :
        [
            "benchmarks/LoadResizeSave",
            .. s_own.Where(own => own.Part == "survive" || own.Part != (Name == "factors" ? "pipelines" : Name)).Select(
                own => $":(exclude)benchmarks/LoadResizeSave/{own.Files}"),
        ],
    ];

    /// <summary>Returns whether a result is of all of this part, on a machine like this one, and nothing in it has failed.</summary>
    public bool IsMadeAsHere(ResultDocument result) => result.Failures.Count == 0
        && result.Command.Split(" --output ")[0].EndsWith($" benchmarks/{Project} -- {string.Join(' ', Arguments)}".TrimEnd())
        && !result.Command.EndsWith(" --quick")
        && MachineText.Describe(result.Machine) == s_machine.Value;
}

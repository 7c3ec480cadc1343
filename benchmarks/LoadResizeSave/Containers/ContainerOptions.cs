namespace LoadResizeSave.Containers;

/// <summary>Options of the commands that run jobs in containers, and what such commands share.</summary>
internal static class ContainerOptions
{
    public const string All = "all";

    public static string WorkFolder { get; } = Path.GetFullPath(Path.Combine("artifacts", "load-resize-save", "containers"));

    public static Option<string?> Input() => new("--input")
    {
        Description = "Folder of photographs of 8 to 15 megapixels. "
            + "[default: Debian's plasma-workspace-wallpapers, or some that are made]",
    };

    public static Option<string[]> Ways(params string[] usual)
        => Names("--ways", "Ways of having memory.", MemoryWay.All.Select(way => way.Name), usual);

    public static Option<string[]> Names(string name, string description, IEnumerable<string> names, params string[] usual)
        => new Option<string[]>(name)
        {
            Description = description,
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => usual,
        }.AcceptOnlyFromAmong([All, .. names]);

    public static Option<int> Number(string name, string description, int usual, int least = 1)
        => new Option<int>(name) { Description = description, DefaultValueFactory = _ => usual }.AtLeast(least);

    public static Option<int[]> Numbers(string name, string description, int[] usual, int least = 1) => new Option<int[]>(name)
    {
        Description = description,
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => usual,
    }.AtLeast(least);

    public static Option<double> Minutes() => new Option<double>("--minutes")
    {
        Description = "No run is begun after so many minutes.",
        DefaultValueFactory = _ => 15,
    }.Between(0.1, 600);

    public static IReadOnlyList<MemoryWay> GetWays(string[] names)
        => names.Contains(All) ? MemoryWay.All : [.. names.Distinct().Select(MemoryWay.Get)];

    /// <summary>As <see cref="MeasurementCommand"/> has it, where memory cgroups can be made; elsewhere the command fails.</summary>
    public static Command MeasuresContainers(
        this Command command, string program, Func<MeasurementRun, CancellationToken, Task<ResultDocument>> measure)
        => command.Measures(program, async (run, cancellationToken) =>
        {
            if (MemoryCgroup.WhyUnavailable() is not { } reason)
            {
                return await measure(run, cancellationToken);
            }

            run.Failures.Add(reason);
            return null;
        });
}

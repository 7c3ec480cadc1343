using Measuring.Cgroups;

namespace LoadResizeSave.Containers;

/// <summary>Measures what was asked for, and returns the document and what must not be as it is. Pictures go into the folder.</summary>
internal delegate Task<(ResultDocument Document, IReadOnlyList<string> Failures)> ContainerMeasure(
    ParseResult parsed, IAnsiConsole console, ResultDocument empty, string folder, CancellationToken cancellationToken);

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

    public static Option<string?> Output() => new("--output")
    {
        Description = "Where the results go. [default: artifacts/results/<processor>]",
    };

    public static Option<string[]> Ways(params string[] usual)
        => Names("--ways", "Ways of having memory.", MemoryWay.All.Select(way => way.Name), usual);

    public static Option<string[]> Names(string name, string description, IEnumerable<string> names, params string[] usual)
    {
        Option<string[]> option = new(name) { Description = description, DefaultValueFactory = _ => usual };
        option.AllowMultipleArgumentsPerToken = true;
        _ = option.AcceptOnlyFromAmong([All, .. names]);
        return option;
    }

    public static Option<int> Number(string name, string description, int usual, int least = 1)
        => new Option<int>(name) { Description = description, DefaultValueFactory = _ => usual }.AtLeast(least);

    public static Option<int[]> Numbers(string name, string description, int[] usual, int least = 1)
    {
        Option<int[]> option = new(name) { Description = description, DefaultValueFactory = _ => usual };
        option.AllowMultipleArgumentsPerToken = true;
        return option.AtLeast(least);
    }

    public static Option<double> Minutes()
    {
        Option<double> option = new("--minutes") { Description = "No run is begun after so many minutes.", DefaultValueFactory = _ => 15 };
        return option.Between(0.1, 600);
    }

    public static Option<bool> KeepMalloc() => new("--keep-malloc")
    {
        Description = "Do not call NativeHeap.TrySetMapThreshold, as the guides say, where this library does not run by default.",
    };

    public static Option<bool> Quick() => new("--quick")
    {
        Description = "A few short runs, to see that the program works; the figures are noise.",
    };

    public static IReadOnlyList<MemoryWay> GetWays(string[] names)
        => names.Contains(All) ? MemoryWay.All : [.. names.Distinct().Select(MemoryWay.Get)];

    /// <summary>Returns what was given, or <paramref name="quickValue"/> in a quick run where nothing was.</summary>
    public static T Get<T>(ParseResult parsed, Option<T> option, bool quick, T quickValue)
        => quick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetValue(option)!;

    public static string? GetInput(ParseResult parsed, Option<string?> input)
        => parsed.GetValue(input) is { } given ? Path.GetFullPath(given) : null;

    /// <summary>
    /// Has <paramref name="command"/> measure, print and save a document under the name <paramref name="program"/>; the exit code is 1
    /// where
    /// there are no cgroups, and where <paramref name="measure"/> found failures.
    /// </summary>
    public static void Measures(Command command, string program, Option<string?> output, ContainerMeasure measure) => command.SetAction(
        async (parsed, cancellationToken) =>
        {
            IAnsiConsole console = ResultConsole.Create();
            if (MemoryCgroup.WhyUnavailable() is { } reason)
            {
                console.MarkupLineInterpolated($"[red]{reason}[/]");
                return 1;
            }

            string folder = parsed.GetValue(output)
                ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe()));
            ResultDocument empty = MeasurementRun.NewDocument(program, "LoadResizeSave", "", parsed);
            (ResultDocument document, IReadOnlyList<string> failures) = await measure(parsed, console, empty, folder, cancellationToken);
            document = document with { Date = DateTimeOffset.UtcNow };
            ResultConsole.Write(console, document);
            console.WriteLine($"results   {ResultFile.Save(document, folder)}");
            foreach (string failure in failures)
            {
                console.MarkupLineInterpolated($"[red]{failure}[/]");
            }

            return failures.Count == 0 ? 0 : 1;
        });
}

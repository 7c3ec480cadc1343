using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Measurements.Analyzers;

/// <summary>Measures what the analyzer costs in an editor and in a build of 200,000 lines, and makes the tables of it.</summary>
internal static class TimeDocument
{
    private const int FileLines = 2_000;
    private const int BuildLines = 200_000;
    private const int QuickLines = 20_000;
    private const int FileRounds = 9;
    private const int BuildRounds = 3;
    private const double Second = 1_000;

    // Code that calls much and never names the library.
    private const string OtherSources = "src/Allocator.Analyzers";

    /// <summary>Gets what a reader must know to read the tables.</summary>
    public static IReadOnlyList<string> Notes { get; } =
    [
        "A file of 2,000 lines is made of the sources, and looked at on one thread, each time in a compilation that knows nothing yet. A "
            + "build is that of copies of the sources, each in a namespace of its own, and of copies of the analyzer's own sources, which "
            + "never name the library; the compiler takes as many threads as it likes.",
        "The ways take turns. What is added is the middle one of the differences between runs that stood side by side. `none` has no "
            + "analyzer; `one that does nothing` is asked about each call, as those of the SDK are: for the first that does, the compiler "
            + "reads all bodies once more.",
    ];

    public static IEnumerable<ResultTable> Tables(CorpusProject corpus, FileInfo? before, MeasurementRun run)
    {
        CSharpCompilation compilation = corpus.Compilation;
        CSharpParseOptions options = (CSharpParseOptions)compilation.SyntaxTrees[0].Options;
        SyntaxTree[] shared = [.. compilation.SyntaxTrees.Where(tree => !CorpusProject.IsWritten(tree))];
        RepeatedSources written = new(compilation.SyntaxTrees.Where(CorpusProject.IsWritten));
        RepeatedSources other = new(
            Directory.EnumerateFiles(OtherSources, "*.cs", SearchOption.AllDirectories).Order(StringComparer.Ordinal)
                .Select(file => CSharpSyntaxTree.ParseText(File.ReadAllText(file), options, file)),
            string.Concat(
                from project in Directory.EnumerateFiles(OtherSources, "*.csproj")
                from named in XDocument.Load(project).Descendants("Using")
                select $"using {named.Attribute("Include")!.Value};\n"));

        SyntaxTree[] files = [.. written.Merged(FileLines, options)];
        CSharpCompilation merged = Checked(compilation.RemoveAllSyntaxTrees().AddSyntaxTrees([.. shared, .. files]));
        run.Console.WriteLine($"{files.Length} files of {FileLines} lines");
        AnalyzerTimes fileTimes = new(before, run.IsQuick ? 1 : FileRounds);
        yield return OfFiles([.. files.Select(file => fileTimes.OfFile(merged, file))]);

        int lines = run.IsQuick ? QuickLines : BuildLines;
        (string Name, IEnumerable<SyntaxTree> Trees)[] builds =
        [
            ("names the library nowhere", other.Copies("Other", lines, options)),
            ("the sources once, the rest names it nowhere",
                [.. written.Copies("Written", 1, options), .. other.Copies("Other", lines - corpus.Lines, options)]),
            ("the sources again and again", written.Copies("Written", lines, options)),
        ];
        AnalyzerTimes times = new(before, run.IsQuick ? 1 : BuildRounds);
        List<ResultRow> rows = [];
        foreach ((string name, IEnumerable<SyntaxTree> trees) in builds)
        {
            run.Console.WriteLine(name);
            rows.AddRange(BuildRows(name, times.OfBuild(Checked(
                compilation.RemoveAllSyntaxTrees().AddSyntaxTrees([.. shared, .. trees])))));
        }

        yield return new ResultTable
        {
            Title = $"A build of {lines:N0} lines",
            Labels = ["sources", "analyzer"],
            Columns =
            [
                new("processor", "s", "0.00"), new("clock", "s", "0.00"), new("added to none, processor", "s", "0.00"),
                new("added to one that does nothing, processor", "s", "0.00"), new("the same, clock", "s", "0.00"),
            ],
            Rows = rows,
        };
    }

    private static IEnumerable<ResultRow> BuildRows(string name, IReadOnlyList<WayTimes> ways) => ways.Select(way => new ResultRow(
        [name, way.Way],
        [
            way.Median(time => time.Processor) / Second, way.Median(time => time.Clock) / Second,
            way.AddedTo(ways[0], time => time.Processor) / Second, way.AddedTo(ways[1], time => time.Processor) / Second,
            way.AddedTo(ways[1], time => time.Clock) / Second,
        ]));

    private static ResultTable OfFiles(IReadOnlyList<IReadOnlyList<WayTimes>> files) => new()
    {
        Title = "A file of 2,000 lines, as an editor analyses it",
        Labels = ["analyzer"],
        Columns =
        [
            new("processor", "ms", "0.0"), new("clock", "ms", "0.0"), new("added to one that does nothing, processor", "ms", "0.0"),
            new("the most for a file", "ms", "0.0"), new("in its own actions, clock", "ms", "0.0"),
        ],
        Rows = [.. files[0].Select((way, index) => FileRow(way.Way, [.. files.Select(ways => (ways[index], ways[1]))]))],
    };

    private static ResultRow FileRow(string way, IReadOnlyList<(WayTimes Way, WayTimes Idle)> files)
    {
        double[] added = [.. files.Select(file => file.Way.AddedTo(file.Idle, time => time.Processor)).Order()];
        return new ResultRow(
            [way],
            [
                WayTimes.Middle(files.Select(file => file.Way.Median(time => time.Processor))),
                WayTimes.Middle(files.Select(file => file.Way.Median(time => time.Clock))),
                WayTimes.Middle(added), added[^1],
                WayTimes.Middle(files.Select(file => file.Way.Median(time => time.Own))),
            ]);
    }

    private static CSharpCompilation Checked(CSharpCompilation compilation) =>
        compilation.GetDiagnostics().FirstOrDefault(found => found.DefaultSeverity == DiagnosticSeverity.Error) is { } error
            ? throw new InvalidDataException($"Copies do not compile: {error}")
            : compilation;
}

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
    private const int BuildRounds = 5;
    private const double Second = 1_000;

    // Code that calls much and never names the library.
    private const string OtherSources = "src/Allocator.Analyzers";

    public static IEnumerable<ResultTable> Tables(CorpusProject corpus, FileInfo? before, MeasurementRun run)
    {
        CSharpCompilation compilation = corpus.Compilation;
        CSharpParseOptions options = (CSharpParseOptions)compilation.SyntaxTrees[0].Options;
        SyntaxTree[] shared = [.. compilation.SyntaxTrees.Where(tree => !CorpusProject.IsWritten(tree))];
        RepeatedSources written = new(compilation.SyntaxTrees.Where(CorpusProject.IsWritten));
        RepeatedSources other = new(
            Directory.EnumerateFiles(OtherSources, "*.cs", SearchOption.AllDirectories).Order(StringComparer.Ordinal)
                .Select(file => CSharpSyntaxTree.ParseText(File.ReadAllText(file), options, file)));

        SyntaxTree[] files = [.. written.Merged(FileLines, options)];
        CSharpCompilation merged = Checked(compilation.RemoveAllSyntaxTrees().AddSyntaxTrees([.. shared, .. files]));
        run.Console.WriteLine($"{files.Length} files of {FileLines} lines");
        yield return OfFiles(new AnalyzerTimes(before, run.IsQuick ? 1 : FileRounds).OfFiles(merged, files));

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
                new("processor", "s", "0.00"), new("clock", "s", "0.00"), new("added, processor", "s", "0.00"),
                new("added, clock", "s", "0.00"), new("in its own actions", "s", "0.00"), new("processor against none", null, "0.00"),
            ],
            Rows = rows,
        };
    }

    private static IEnumerable<ResultRow> BuildRows(string name, IReadOnlyList<(string Way, RunTime Time)> ways)
    {
        RunTime none = ways[0].Time;
        return ways.Select(way => new ResultRow(
            [name, way.Way],
            [
                way.Time.Processor / Second, way.Time.Clock / Second, (way.Time.Processor - none.Processor) / Second,
                (way.Time.Clock - none.Clock) / Second, way.Time.Own / Second, way.Time.Processor / none.Processor,
            ]));
    }

    private static ResultTable OfFiles(IReadOnlyList<(string Way, IReadOnlyList<RunTime> Times)> ways) => new()
    {
        Title = "A file of 2,000 lines, as an editor analyses it",
        Labels = ["analyzer"],
        Columns =
        [
            new("processor, median", "ms", "0.0"), new("clock, median", "ms", "0.0"), new("in its own actions, median", "ms", "0.0"),
            new("the longest of these", "ms", "0.0"),
        ],
        Rows =
        [
            .. ways.Select(way => new ResultRow(
                [way.Way],
                [
                    Median(way.Times, time => time.Processor), Median(way.Times, time => time.Clock),
                    Median(way.Times, time => time.Own), way.Times.Max(time => time.Own),
                ])),
        ],
    };

    private static double Median(IReadOnlyList<RunTime> times, Func<RunTime, double> value) =>
        times.Select(value).Order().ElementAt(times.Count / 2);

    private static CSharpCompilation Checked(CSharpCompilation compilation) =>
        compilation.GetDiagnostics().FirstOrDefault(found => found.DefaultSeverity == DiagnosticSeverity.Error) is { } error
            ? throw new InvalidDataException($"Copies do not compile: {error}")
            : compilation;
}

using System.Xml.Linq;
using Measuring.Tests;
using Spectre.Console;

namespace Measurements.Tests.Report;

public sealed class ReportCommandTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Run_ResultsOfTwoProcessors_WritesPagesChartsAndIndexes()
    {
        Save("some-cpu", Documents.Create("Alpha", Chart("First chart"), Chart("Second chart")));
        Save("some-cpu", Documents.Create("Beta", Chart("Only chart")));
        Save("other-cpu/debug", Documents.Create("Alpha"));

        Assert.Equal(0, Run(out _));

        Assert.Equal(
            [
                "README.md", "other-cpu/README.md", "other-cpu/debug/Alpha.json", "other-cpu/debug/Alpha.md",
                "some-cpu/Alpha-first-chart.svg", "some-cpu/Alpha-second-chart.svg", "some-cpu/Alpha.json", "some-cpu/Alpha.md",
                "some-cpu/Beta.json", "some-cpu/Beta.md", "some-cpu/Beta.svg", "some-cpu/README.md",
            ],
            Files());
        Assert.Equal("svg", XDocument.Parse(Read("some-cpu/Beta.svg")).Root!.Name.LocalName);
        Assert.Contains("| [some-cpu](some-cpu/README.md) | 2 | 2026-11-21 |", Read("README.md"));
        Assert.Contains(
            "| [Beta](Beta.md) ([data](Beta.json)) | A sample | 2026-11-21 | `dotnet run -c Release --project benchmarks/Beta` |",
            Read("some-cpu/README.md"));
        Assert.Contains("| [Alpha](debug/Alpha.md) ([data](debug/Alpha.json)) | A sample | 2026-11-21 |", Read("other-cpu/README.md"));
    }

    [Fact]
    public void Run_AResult_HasAllOfItOnItsPage()
    {
        Save("cpu", Documents.Create("Alpha", Chart("First | chart")));

        Assert.Equal(0, Run(out _));

        string page = Read("cpu/Alpha.md");
        foreach (string line in (string[])[
            "# A sample",
            "| command | `dotnet run -c Release --project benchmarks/Alpha` |",
            "| date | 2026-11-21 12:30 UTC |",
            "| machine | Some(R) Processor, 2 cores, 25 GB, Some Linux, .NET 10.0.0 |",
            "| pages | 4,096 bytes; transparent huge pages: madvise; first write to one: 0.3 µs |",
            "## Times",
            "| subject | threads | time, ns | objects |",
            "| --- | --- | ---: | ---: |",
            "| pool \\| lease | 1 | 1,234.6 | 3 |",
            "| GC | 1 | 7.0 | – |",
            "- A note about `Rent<byte>`, a\\|b and &lt;i&gt;.",
            "![First \\| chart](Alpha.svg)"])
        {
            Assert.Contains(line + "\n", page);
        }
    }

    /// <summary>Pages quote what is committed; where the tests run there is none of either.</summary>
    [Fact]
    public void Invoke_ResultsElsewhere_LooksForNoPageThatQuotesThem()
    {
        Save("cpu", Documents.Create("Alpha"));

        Assert.Equal(0, ReportCommand.Create().Parse([_folder.Path]).Invoke());
    }

    [Fact]
    public void Run_Twice_WritesTheSameBytes()
    {
        Save(
            "cpu",
            Documents.Create("Alpha", Chart("First"), Chart("First"), Documents.Bars("Bars", ["a"], Documents.Series("s", (0, 1)))));
        File.WriteAllText(_folder.At("cpu/NOTES.md"), "By hand.\r\n");

        Assert.Equal(0, Run(out _));
        Dictionary<string, string> first = Files().ToDictionary(path => path, Read);
        Assert.Equal(0, Run(out _));

        Assert.Equal(first, Files().ToDictionary(path => path, Read));
        Assert.Contains("cpu/Alpha-first-2.svg", first.Keys);
        Assert.All(first.Where(file => !file.Key.EndsWith("NOTES.md")), file => Assert.DoesNotContain('\r', file.Value));
    }

    [Fact]
    public void Run_NotesByHand_BeginTheIndexes()
    {
        File.WriteAllText(_folder.At("NOTES.md"), "About all.");
        File.WriteAllText(_folder.At("old-cpu/NOTES.md"), "## Old\n\nFigures in another format.\n");
        File.WriteAllText(_folder.At("old-cpu/job/run.json"), """{"date":"2026-11-21","runs":[]}""");

        Assert.Equal(0, Run(out _));

        Assert.Contains("\n\nAbout all.\n\n| processor", Read("README.md"));
        Assert.Contains("| [old-cpu](old-cpu/README.md) | notes only |", Read("README.md"));
        Assert.EndsWith("\n\n## Old\n\nFigures in another format.\n", Read("old-cpu/README.md"));
        Assert.DoesNotContain("old-cpu/job/run.md", Files());
    }

    [Theory]
    [InlineData("{")]
    [InlineData("{\"program\":\"Alpha\"}")]
    [InlineData("{\"program\":null,\"title\":\"T\"}")]
    public void Run_ADamagedFile_FailsNamesItAndWritesNothing(string content)
    {
        Save("cpu", Documents.Create("Good"));
        File.WriteAllText(_folder.At("cpu/bad.json"), content);

        Assert.Equal(1, Run(out string output));

        Assert.Contains("cpu/bad.json: ", output);
        Assert.Equal(["cpu/Good.json", "cpu/bad.json"], Files());
    }

    [Fact]
    public void Run_ARowThatIsTooShort_FailsAndNamesTheTable()
    {
        ResultDocument document = Documents.Create();
        Save("cpu", document with { Tables = [document.Tables[0] with { Rows = [new ResultRow(["pool", "1"], [5])] }] });

        Assert.Equal(1, Run(out string output));

        Assert.Contains("A row of the table \"Times\"", output);
    }

    [Fact]
    public void Run_ABarOverNoName_FailsAndNamesTheFile()
    {
        Save("cpu", Documents.Create("Alpha", Documents.Bars("Bars", ["a"], Documents.Series("s", (1, 1)))));

        Assert.Equal(1, Run(out string output));

        Assert.Contains("the chart \"Bars\"", output);
    }

    [Fact]
    public void Run_APictureOfTheProgram_IsShownAndMustBeThere()
    {
        Save("cpu", Documents.Create("Alpha") with { Pictures = [new ResultPicture("Memory", "Alpha-memory.svg")] });

        Assert.Equal(1, Run(out string output));
        Assert.Contains("Alpha-memory.svg", output);

        File.WriteAllText(_folder.At("cpu/Alpha-memory.svg"), "<svg/>");
        Assert.Equal(0, Run(out output));
        Assert.Contains("![Memory](Alpha-memory.svg)\n", Read("cpu/Alpha.md"));
        Assert.Equal("<svg/>", Read("cpu/Alpha-memory.svg"));
    }

    [Fact]
    public void Run_TwoResultsThatNeedTheSameFile_Fails()
    {
        Save("cpu", Documents.Create("A-b", Chart("Only")));
        Save("cpu", Documents.Create("A", Chart("B"), Chart("C")));

        Assert.Equal(1, Run(out string output));

        Assert.Contains("A-b.svg", output);
    }

    private static ResultChart Chart(string title) => Documents.Lines(title, Documents.Series("pool", (1, 10), (2, 20)));

    private static IAnsiConsole Console(TextWriter output)
    {
        IAnsiConsole console = AnsiConsole.Create(
            new AnsiConsoleSettings
            {
                Ansi = AnsiSupport.No,
                ColorSystem = ColorSystemSupport.NoColors,
                Out = new AnsiConsoleOutput(output),
            });
        console.Profile.Width = 1000;
        return console;
    }

    private int Run(out string output)
    {
        StringWriter writer = new();
        int exitCode = ReportCommand.Run(_folder.Path, Console(writer));
        output = writer.ToString();
        return exitCode;
    }

    private void Save(string folder, ResultDocument document) => ResultFile.Save(document, Path.Combine(_folder.Path, folder));

    private string Read(string path) => File.ReadAllText(Path.Combine(_folder.Path, path));

    private List<string> Files()
        => [.. Directory.EnumerateFiles(_folder.Path, "*", SearchOption.AllDirectories)
            .Select(path => Path.GetRelativePath(_folder.Path, path).Replace('\\', '/')).Order(StringComparer.Ordinal)];
}

using System.Reflection;
using Measurements.Everything;
using Measuring.Tests;

namespace Measurements.Tests.Everything;

public class ResultPartTests
{
    private static readonly string s_root = typeof(ResultPartTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(attribute => attribute.Key == "RepositoryRoot").Value!;

    [Fact]
    public void All_NamesAndResults_AreDifferent()
    {
        Assert.Equal(ResultPart.All.Count, ResultPart.All.Select(part => part.Name).Distinct().Count());
        Assert.Equal(ResultPart.All.Count, ResultPart.All.Select(part => part.Result).Distinct().Count());
    }

    [Fact]
    public void All_OfThisProgram_AreCommandsThatItHas()
        => Assert.All(
            ResultPart.All.Where(part => part.Project == "Measurements"),
            part => Assert.Empty(Program.CreateRoot().Parse([.. part.Arguments, "--quick"]).Errors));

    [Fact]
    public void All_OfTheMainJob_AreCommandsThatItHas()
    {
        RootCommand root = JobCommand.Create();
        root.Add(SurvivalMeasurement.Create());
        root.Add(ChaosMeasurement.Create());

        Assert.All(
            ResultPart.All.Where(part => part.Project == "LoadResizeSave"),
            part => Assert.Empty(root.Parse([.. part.Arguments, "--output", "results"]).Errors));
    }

    [Fact]
    public void Sources_OfEachPart_AreInTheRepository()
        => Assert.All(
            ResultPart.All.SelectMany(part => part.Sources).Distinct(),
            source => Assert.True(IsInRepository(source.Replace(":(exclude)", "", StringComparison.Ordinal)), source));

    [Theory]
    [InlineData("latency --output results", true)]
    [InlineData("latency --output results --quick", false)]
    [InlineData("latency --some-option --output results", false)]
    [InlineData("latency", true)]
    [InlineData("survive --output results", false)]
    public void IsMadeAsHere_CommandOfAResult_IsThatOfTheWholePart(string command, bool expected)
    {
        ResultPart latency = ResultPart.All.First(part => part.Name == "latency");
        ResultDocument document = Documents.Create("Latency") with
        {
            Command = "dotnet run -c Release --project benchmarks/Measurements -- " + command,
            Machine = Measuring.Machines.ThisMachine.Describe(),
        };
        Assert.Equal(expected, latency.IsMadeAsHere(document));
        Assert.False(latency.IsMadeAsHere(document with { Failures = ["memory was overwritten"] }));
        Assert.False(latency.IsMadeAsHere(document with { Machine = document.Machine with { Processor = "another" } }));
    }

    private static bool IsInRepository(string source)
    {
        string path = Path.Combine(s_root, source);
        return Path.Exists(path)
            || Directory.EnumerateFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path), SearchOption.AllDirectories).Any();
    }

    [Theory]
    [InlineData("--only", "no-such-part")]
    [InlineData("--within", "-1")]
    public void Parse_InvalidArguments_HasAnError(params string[] arguments)
        => Assert.NotEmpty(AllCommand.Create().Parse(arguments).Errors);
}

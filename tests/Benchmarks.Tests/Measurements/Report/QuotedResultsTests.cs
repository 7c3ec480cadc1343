using System.Reflection;
using System.Text.RegularExpressions;
using Measuring.Tests;

namespace Measurements.Tests.Report;

public sealed partial class QuotedResultsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    internal static string Root { get; } = typeof(QuotedResultsTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(attribute => attribute.Key == "RepositoryRoot").Value!;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Pages_OfTheRepository_QuoteTheNewestResults()
    {
        ResultTree tree = ResultTree.Read(Path.Combine(Root, "benchmarks", "results"));
        foreach (string path in QuotedResults.PagesOf(Root))
        {
            string page = File.ReadAllText(path);
            Assert.True(
                page == QuotedResults.Write(page, tree),
                $"{path} quotes other figures than the results have: dotnet run -c Release --project benchmarks/Measurements -- report");
        }
    }

    // Versions and sizes have no decimals there; tables that are made whole need no marks.
    [Fact]
    public void Readme_EveryFractionOutsideOfCode_SaysWhereItComesFrom()
    {
        string text = string.Concat(File.ReadAllText(Path.Combine(Root, "README.md")).Split("```").Where((_, i) => i % 2 == 0));
        MatchCollection fractions = Fractions().Matches(WholeTables().Replace(text, ""));

        Assert.True(fractions.Count > 10, $"{fractions.Count} figures");
        Assert.DoesNotContain(fractions, match => !match.Groups["mark"].Success);
    }

    [Theory]
    [InlineData("<!--= Alpha; GC; time -->1,000.0 ns", "<!--= Alpha; GC; time -->7.0 ns")]
    [InlineData("<!--= Alpha; GC; time -->1,234, a", "<!--= Alpha; GC; time -->7.0, a")]
    [InlineData("**<!--= Alpha; pool | lease; 1; time: 0 -->7** a", "**<!--= Alpha; pool | lease; 1; time: 0 -->1235** a")]
    [InlineData(
        "<!--= Alpha; machine -->x<!--/-->.",
        "<!--= Alpha; machine -->Some(R) Processor, 2 cores, 25 GB, Some Linux, .NET 10.0.0, 2026-11-21, commit abc<!--/-->.")]
    [InlineData("<!--= Alpha; Tim; GC; time -->1", "<!--= Alpha; Tim; GC; time -->7.0")]
    [InlineData(
        "](b/results/old/Alpha.md) ](../results/old/Alpha-memory.svg)",
        "](b/results/some-cpu/Alpha.md) ](../results/some-cpu/Alpha-memory.svg)")]
    [InlineData("](b/results/old/README.md) ](b/results/old/Beta.md)", "](b/results/old/README.md) ](b/results/old/Beta.md)")]
    [InlineData("7 and 8, by hand", "7 and 8, by hand")]
    public void Write_AFigure_IsThatOfTheResult(string page, string expected) => Assert.Equal(expected, QuotedResults.Write(page, Save()));

    [Theory]
    [InlineData("<!--= Beta; GC; time -->1")]
    [InlineData("<!--= Alpha; GC; price -->1")]
    [InlineData("<!--= Alpha; GC; objects -->1")]
    [InlineData("<!--= Alpha; malloc; time -->1")]
    [InlineData("<!--= Beta; machine -->x<!--/-->")]
    public void Write_WhatNoResultHas_Fails(string page)
        => Assert.Contains("A page ", Assert.Throws<InvalidDataException>(() => QuotedResults.Write(page, Save())).Message);

    [Fact]
    public void Write_TwoMachines_QuotesTheNewerOne()
    {
        ResultDocument older = Documents.Create("Alpha") with { Date = DateTimeOffset.UnixEpoch };
        ResultTable times = older.Tables[0] with { Rows = [new ResultRow(["GC", "1"], [99, 1])] };
        _ = ResultFile.Save(older with { Tables = [times] }, _folder.At("a-cpu"));

        // What the newer one lacks is the older one's.
        Assert.Equal(
            "<!--= Alpha; GC; time -->7.0, <!--= Alpha; GC; objects -->1",
            QuotedResults.Write("<!--= Alpha; GC; time -->0, <!--= Alpha; GC; objects -->0", Save()));
    }

    private ResultTree Save()
    {
        _ = ResultFile.Save(Documents.Create("Alpha") with { Commit = "abc" }, _folder.At("some-cpu"));
        return ResultTree.Read(_folder.Path);
    }

    [GeneratedRegex("<!-- result .*?<!-- end of result -->", RegexOptions.Singleline)]
    private static partial Regex WholeTables();

    [GeneratedRegex(@"(?<mark><!--= [^>]*-->)?(?<![\w.,])\d[\d,]*\.\d+(?![\d.]*\.)")]
    private static partial Regex Fractions();
}

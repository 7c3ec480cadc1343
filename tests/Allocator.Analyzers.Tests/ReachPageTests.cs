using System.Globalization;
using System.Text.Json;
using Allocator.Tests;

namespace Allocator.Analyzers.Tests;

/// <summary>What the page of the rules says they find is what was measured.</summary>
public sealed class ReachPageTests
{
    // The measurement names them more briefly than the page.
    private static readonly (string Measured, string OnPage)[] s_rows =
    [
        ("a `using` removed", "a `using` removed"),
        ("disposed before the last use", "disposed before the last use"),
        ("all calls of `Dispose` removed", "all calls of `Dispose` removed, if `finally` or a hand-over disposes"),
        ("a `using` of a class that owns buffers removed", "a `using` of a class that owns buffers removed"),
        ("a class that owns buffers, disposed before the last use", "such a class disposed before the last use"),
    ];

    [Fact]
    public void Page_FoundNow_IsWhatWasMeasured()
    {
        Dictionary<string, string[]> page = File.ReadLines(Repository.PathTo("docs", "rules", "README.md"))
            .Where(line => line.StartsWith('|')).Select(line => line.Trim('|', ' ').Split('|', StringSplitOptions.TrimEntries))
            .Where(cells => cells is [_, _, _, _, var found] && found.EndsWith('%')).ToDictionary(cells => cells[0]);
        Dictionary<string, Dictionary<string, double>> measured = Measured("Mistakes made on purpose");

        Assert.Equal(s_rows.Length, page.Count);
        foreach ((string row, string onPage) in s_rows)
        {
            Assert.Equal(measured[row]["made"], double.Parse(page[onPage][1], CultureInfo.InvariantCulture));
            Assert.Equal(measured[row]["found"].ToString("0.0 '%'", CultureInfo.InvariantCulture), page[onPage][4]);
            Assert.Equal(0, measured[row]["wrong"]);
        }
    }

    private static Dictionary<string, Dictionary<string, double>> Measured(string title)
    {
        using JsonDocument result = JsonDocument.Parse(
            File.ReadAllText(Repository.PathTo("benchmarks", "results", "amd-epyc", "AnalyzerReach.json")));
        JsonElement table = result.RootElement.GetProperty("tables").EnumerateArray()
            .Single(one => one.GetProperty("title").GetString() == title);
        string[] columns = [.. table.GetProperty("columns").EnumerateArray().Select(column => column.GetProperty("name").GetString()!)];
        return table.GetProperty("rows").EnumerateArray().ToDictionary(
            row => row.GetProperty("labels")[0].GetString()!,
            row => row.GetProperty("values").EnumerateArray().Select(value => value.GetDouble())
                .Zip(columns).ToDictionary(pair => pair.Second, pair => pair.First));
    }
}

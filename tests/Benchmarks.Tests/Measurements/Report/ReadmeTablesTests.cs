using Measuring.Tests;

namespace Measurements.Tests.Report;

public class ReadmeTablesTests
{
    private const string Readme = "# Title\n\n<!-- result Alpha -->\nold\n<!-- end of result -->\n\nrest\n";

    [Fact]
    public void Update_TwoResults_HasTheTableOfTheNewestOnce()
    {
        ResultDocument older = Documents.Create("Alpha") with { Date = DateTimeOffset.UnixEpoch, Tables = [] };
        ResultTree tree = new(null, [new("cpu", null, [Store("cpu/old", older), Store("cpu/Alpha", Documents.Create("Alpha"))])]);

        string updated = ReadmeTables.Update(Readme, tree, "results");

        Assert.StartsWith("# Title\n\n<!-- result Alpha -->\n\n| subject |", updated);
        Assert.Contains("[All figures](results/cpu/Alpha.md): Some(R) Processor", updated);
        Assert.EndsWith("2026-11-21.\n\n<!-- end of result -->\n\nrest\n", updated);
        Assert.DoesNotContain("old", updated);
        Assert.Equal(updated, ReadmeTables.Update(updated, tree, "results"));
    }

    [Theory]
    [InlineData("dotnet run -- --quick", null)]
    [InlineData("dotnet run", "memory was overwritten")]
    public void Update_NewerResultThatIsBriefOrFailed_KeepsTheOtherOne(string command, string? failure)
    {
        ResultDocument newer = Documents.Create("Alpha") with
        {
            Date = DateTimeOffset.MaxValue,
            Command = command,
            Failures = failure is null ? [] : [failure],
        };
        ResultTree tree = new(null, [new("cpu", null, [Store("cpu/new", newer), Store("cpu/Alpha", Documents.Create("Alpha"))])]);

        Assert.Contains("[All figures](results/cpu/Alpha.md)", ReadmeTables.Update(Readme, tree, "results"));
    }

    [Fact]
    public void Update_NoResultYet_LeavesThePlace()
        => Assert.Equal(Readme, ReadmeTables.Update(Readme, new ResultTree(null, []), "results"));

    private static StoredResult Store(string path, ResultDocument document) => new("folder", path + ".json", document);
}

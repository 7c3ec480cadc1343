using System.Reflection;
using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>Every promise that <c>docs/promises.md</c> makes names a test, and that test is there.</summary>
public partial class PromisesPageTests
{
    private static readonly string[] s_rows =
        [.. File.ReadLines(Repository.PathTo("docs", "promises.md")).Where(static line => line.StartsWith("| ", StringComparison.Ordinal))
            .Skip(1)];

    [Fact]
    public void Promises_EachOfThem_NamesATestThatIsThere()
    {
        Assert.NotEmpty(s_rows);
        Assert.All(s_rows, static row =>
        {
            string[] names = [.. TestName().Matches(row).Select(static match => match.Groups["name"].Value)];
            Assert.True(names.Length > 0, $"No test is named: {row}");
            Assert.All(names, static name => Assert.True(IsTest(name), $"There is no test {name}."));
        });
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData("PromisesPageTests.Promises_EachOfThem_NamesATestThatIsThere", true)]
    [InlineData("PromisesPageTests.Promises_NoneOfThem_NamesATest", false)]
    [InlineData("PromisesPageTests.IsTest", false)]
    [InlineData("MemoryPageTests.Page_WithAuthorization_IsProtectedWithAllThatBelongsToIt", true)]
    [InlineData("MemoryPageTests.BrowseAsync", false)]
    public void IsTest_OfAName_TellsWhetherItIsThere(string name, bool expected) => Assert.Equal(expected, IsTest(name));

    private static bool IsTest(string name)
    {
        string[] parts = name.Split('.');
        return IsTestOfThePackage(parts[0], parts[1]) || typeof(PromisesPageTests).Assembly.GetTypes().Any(type =>
            type.Name == parts[0]
                && type.GetMethods().Any(method => method.Name == parts[1] && method.GetCustomAttribute<FactAttribute>() is not null));
    }

    // That project is not referenced from here: its sources say what it has.
    private static bool IsTestOfThePackage(string type, string method)
    {
        string file = Repository.PathTo("tests", "Allocator.AspNetCore.Tests", $"{type}.cs");
        return File.Exists(file)
            && Regex.IsMatch(File.ReadAllText(file), $@"\[(Fact|Theory|Skippable\w+)\][^{{;]*\s{Regex.Escape(method)}\(");
    }

    [GeneratedRegex(@"`(?<name>\w+Tests\.\w+)`")]
    private static partial Regex TestName();
}

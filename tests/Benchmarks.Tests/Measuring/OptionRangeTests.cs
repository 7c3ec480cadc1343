using System.CommandLine;

namespace Measuring.Tests;

public class OptionRangeTests
{
    [Theory]
    [InlineData("--count", "0", "--count is 0; it must be at least 1.")]
    [InlineData("--percent", "101", "--percent is 101; it must be from 1 to 100.")]
    [InlineData("--ratio", "0.01", "--ratio is 0.01; it must be from 0.05 to 2.5.")]
    [InlineData("--ratio", "NaN", "--ratio is NaN; it must be from 0.05 to 2.5.")]
    [InlineData("--perhaps", "-3", "--perhaps is -3; it must be at least 1.")]
    public void Parse_OutOfRange_NamesTheValueAndTheLimits(string option, string value, string expected)
        => Assert.Equal(expected, Assert.Single(Parse(option, value).Errors).Message);

    [Fact]
    public void Parse_OneOfSeveralOutOfRange_NamesThatOne()
        => Assert.Equal("--sizes is 0; it must be at least 2.", Assert.Single(Parse("--sizes", "4", "0", "2").Errors).Message);

    [Theory]
    [InlineData("--count")]
    [InlineData("--percent")]
    [InlineData("--ratio")]
    [InlineData("--perhaps")]
    [InlineData("--sizes")]
    public void Parse_NoNumber_IsAnErrorAndNoException(string option)
        => Assert.Contains($"'abc' for option '{option}'", Assert.Single(Parse(option, "abc").Errors).Message);

    [Theory]
    [InlineData]
    [InlineData("--count", "1", "--percent", "100", "--ratio", "2.5", "--perhaps", "1", "--sizes", "2", "3")]
    public void Parse_WithinRange_HasNoErrors(params string[] arguments)
        => Assert.Empty(Parse(arguments).Errors);

    private static ParseResult Parse(params string[] arguments) => new RootCommand
    {
        new Option<int>("--count") { DefaultValueFactory = _ => 3 }.AtLeast(1),
        new Option<int>("--percent") { DefaultValueFactory = _ => 50 }.Between(1, 100),
        new Option<double>("--ratio") { DefaultValueFactory = _ => 1 }.Between(0.05, 2.5),
        new Option<int?>("--perhaps").AtLeast(1),
        new Option<int[]>("--sizes") { AllowMultipleArgumentsPerToken = true }.AtLeast(2),
    }.Parse(arguments);
}

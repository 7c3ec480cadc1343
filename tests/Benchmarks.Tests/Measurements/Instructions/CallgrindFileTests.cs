using Measurements.Instructions;

namespace Measurements.Tests.Instructions;

public class CallgrindFileTests
{
    [Fact]
    public void Read_CallsAndRepeatedNames_GivesWhatEachMethodTookItself()
    {
        string[] lines =
        [
            "# callgrind format",
            "version: 1",
            "events: Ir",
            "summary: 1135",
            "ob=(1) /a/program",
            "fn=(1) Main",
            "0 5",
            "cob=(2) /a/library",
            "cfn=(2) Inner",
            "calls=10 0",
            "0 1000",
            "+3 20",
            "",
            "fn=(2)",
            "* 1000",
            "fn=(1)",
            "-2 110",
            "totals: 1135",
        ];

        Dictionary<string, long> costs = CallgrindFile.Read(lines, name => name + "()");

        Assert.Equal(new Dictionary<string, long> { ["Main()"] = 135, ["Inner()"] = 1000 }, costs);
    }
}

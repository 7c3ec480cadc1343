using System.Globalization;
using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>What <c>docs/waiting.md</c> says of the thread pool is what its program finds, wherever it runs.</summary>
public partial class WaitingPageTests
{
    [Fact]
    public void Program_OfThePage_FindsThreadsAddedForBlockingRequestsAndHardlyAnyForAsynchronousOnes()
    {
        CodeBlock block = CodeBlock.All().Single(block => block.Document == "docs/waiting.md");
        string printed = "";
        ExampleCompiler.TryOut(
            block.Document, block.Line, (program, folder) => printed = ReadmeTests.RunInItsOwnProcess(program, folder));

        int[] added = [.. Added().Matches(printed).Select(match => Number(match.Groups["number"]))];
        double ratio = Number(Ratio().Match(printed).Groups["number"]);

        // For six more requests than cores, and the unrelated work; another thread of the pool may have been there already. On a busy
        // machine the asynchronous case is late too, by what the machine takes and not by threads.
        Assert.Equal(3, added.Length);
        Assert.True(added[2] >= 4 && added[2] > added[1], printed);
        Assert.True(ratio > 1, printed);
    }

    private static int Number(Group group) => int.Parse(group.Value, NumberStyles.AllowThousands, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"(?<number>\d+) threads added")]
    private static partial Regex Added();

    [GeneratedRegex(@"began (?<number>[\d,]+) times")]
    private static partial Regex Ratio();
}

namespace Allocator.Tests.Documentation;

/// <summary>The examples of the documents are programs: each compiles without a warning and runs.</summary>
public class ReadmeTests
{
    public static TheoryData<string, int> Blocks()
    {
        TheoryData<string, int> blocks = [];
        foreach (CodeBlock block in CodeBlock.All().Where(block => !block.IsWeb && !block.IsSkia && block.Client is null))
        {
            blocks.Add(block.Document, block.Line);
        }

        return blocks;
    }

    [Fact]
    public void Readme_HasAnExample_ThatRuns() =>
        Assert.Contains(CodeBlock.All(), block => block is { Document: "README.md", IsRun: true });

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Example_OfADocument_CompilesAndRuns(string document, int line) =>
        ExampleCompiler.TryOut(document, line, (program, folder) =>
        {
            string printed = ExampleCompiler.Run(program, folder);
            string? expected = CodeBlock.All().Single(block => block.Document == document && block.Line == line).Printed;
            Assert.Equal(expected ?? printed, printed);
        });

    [Fact]
    public void Output_OfAnExampleThatSaysWhatItPrints_IsFound() =>
        Assert.Contains(CodeBlock.All(), block => block is { Document: "docs/migrating/arraypool.md", Printed: "42, 5000000 bytes" });
}

using Allocator.Tests.Documentation;

namespace Allocator.SkiaSharp.Tests;

/// <summary>The examples of guides that need SkiaSharp: each compiles without a warning and runs, beside a photograph.</summary>
public class GuideTests
{
    public static TheoryData<string, int> Blocks()
    {
        TheoryData<string, int> blocks = [];
        foreach (CodeBlock block in CodeBlock.All().Where(block => block.IsSkia))
        {
            blocks.Add(block.Document, block.Line);
        }

        return blocks;
    }

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Example_OfAGuide_CompilesAndRuns(string document, int line) =>
        ExampleCompiler.TryOut(document, line, (program, folder) =>
        {
            File.WriteAllBytes(Path.Combine(folder, "photo.jpg"), Picture.Read("progressive-420.jpg"));
            string printed = ExampleCompiler.Run(program, folder);
            string? expected = CodeBlock.All().Single(block => block.Document == document && block.Line == line).Printed;
            Assert.Equal(expected ?? printed, printed);
            Assert.NotEmpty(printed);
        });
}

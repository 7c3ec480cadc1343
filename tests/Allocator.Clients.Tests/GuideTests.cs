using Allocator.Tests.Documentation;

namespace Allocator.Clients.Tests;

/// <summary>The examples of guides for other libraries: each compiles without a warning and runs with the real library.</summary>
public class GuideTests
{
    public static TheoryData<string, int, string> Blocks()
    {
        TheoryData<string, int, string> blocks = [];
        foreach (CodeBlock block in CodeBlock.All().Where(block => block.Client is not null))
        {
            blocks.Add(block.Document, block.Line, block.Client!);
        }

        return blocks;
    }

    [SkippableTheory]
    [MemberData(nameof(Blocks))]
    public void Example_OfAGuide_CompilesAndRuns(string document, int line, string client)
    {
        Real.SkipWithout(client);
        ExampleCompiler.TryOut(document, line, (program, folder) =>
        {
            File.WriteAllBytes(Path.Combine(folder, "model.onnx"), Real.IdentityModel());
            File.Copy(Real.Photograph, Path.Combine(folder, "photo.jpg"));
            string printed = ExampleCompiler.Run(program, folder);
            Assert.Equal(CodeBlock.All().Single(block => block.Document == document && block.Line == line).Printed, printed);
        });
    }

    /// <summary>Otherwise a client could be left out unseen.</summary>
    [Theory]
    [InlineData("netvips")]
    [InlineData("opencvsharp")]
    [InlineData("magick")]
    [InlineData("onnxruntime")]
    [InlineData("imagesharp")]
    public void Blocks_OfEachClient_AreThere(string client) => Assert.Contains(CodeBlock.All(), block => block.Client == client);
}

using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>What a newcomer types: a new project, the package, and the first image of the guide.</summary>
[Collection(nameof(PackedLibrary))]
public class FirstImageTests(PackedLibrary library)
{
    private static readonly CodeBlock s_example = CodeBlock.All().First(block => block.Document == "docs/getting-started.md");

    [Fact]
    public void NewConsoleProject_WithThePackageAdded_MakesTheFirstImage()
    {
        string folder = Make("FirstImage");

        string printed = library.Dotnet(folder, "run");

        Assert.StartsWith("4000 × 3000", printed, StringComparison.Ordinal);
        Assert.DoesNotContain("warning", printed, StringComparison.Ordinal);
    }

    [SkippableFact]
    public void NewConsoleProject_CompiledAheadOfTime_MakesTheFirstImage()
    {
        string folder = Make("FirstAotImage");
        string output = Path.Combine(folder, "published");
        try
        {
            string printed = library.Dotnet(
                folder,
                "publish",
                "--output",
                output,
                "-p:PublishAot=true",
                "-p:InvariantGlobalization=true",
                "-p:TreatWarningsAsErrors=true");
            Assert.DoesNotContain("warning", printed, StringComparison.Ordinal);
        }
        catch (InvalidOperationException exception) when (
            exception.Message.Contains("Platform linker not found", StringComparison.Ordinal)
            || exception.Message.Contains("Unable to find package", StringComparison.Ordinal))
        {
            throw new SkipException("Compiling ahead of time takes a C compiler (clang), and the compiler's packages on the feed.");
        }

        string program = Path.Combine(output, Path.GetFileName(folder));
        Assert.StartsWith("4000 × 3000", CommandLine.Run(program, output, new Dictionary<string, string>()), StringComparison.Ordinal);
    }

    /// <summary>"In ten lines": those that are not a brace alone, or empty.</summary>
    [Fact]
    public void FirstImage_OfTheGuide_TakesTenLines() =>
        Assert.InRange(s_example.Code.Split('\n').Count(line => line.Trim().Length > 1 && line.Trim() != "});"), 1, 10);

    private string Make(string name)
    {
        string folder = library.Folder(name);
        library.Dotnet(folder, "new", "console", "--no-restore");
        library.Dotnet(folder, "add", "package", "Allocator", "--version", library.Version, "--source", library.Feed);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), s_example.Code);
        return folder;
    }
}

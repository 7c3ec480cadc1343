using System.Xml.Linq;
using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>The package for SkiaSharp: what lies in it, what it needs, and a new program that has it.</summary>
[Collection(nameof(PackedLibrary))]
public class SkiaPackageTests(PackedLibrary library)
{
    [Fact]
    public void SkiaPackage_ForEachFramework_HasItsAssemblyDocumentationAndSymbols()
    {
        Assert.Equal(
            ["lib/net10.0/Allocator.SkiaSharp.dll", "lib/net10.0/Allocator.SkiaSharp.xml",
                "lib/net8.0/Allocator.SkiaSharp.dll", "lib/net8.0/Allocator.SkiaSharp.xml"],
            Files(library.SkiaPackagePath));
        Assert.Equal(
            ["lib/net10.0/Allocator.SkiaSharp.pdb", "lib/net8.0/Allocator.SkiaSharp.pdb"],
            Files(library.SkiaSymbolsPath));
    }

    /// <summary>With the library's analyzers, which follow bitmaps.</summary>
    [Fact]
    public void SkiaPackage_Dependencies_AreTheLibraryOfItsVersionAndTheOldestSkiaSharp()
    {
        XElement metadata = XDocument.Parse(Text("Allocator.SkiaSharp.nuspec")).Root!.Elements().Single();
        XElement[] dependencies = [.. metadata.Descendants().Where(element => element.Name.LocalName == "dependency")];

        Assert.Equal(
            [("Allocator", library.Version), ("Allocator", library.Version), ("SkiaSharp", "3.119.4"), ("SkiaSharp", "3.119.4")],
            dependencies.Select(dependency => (dependency.Attribute("id")!.Value, dependency.Attribute("version")!.Value)).Order());
        Assert.All(
            dependencies.Where(dependency => dependency.Attribute("id")!.Value == "Allocator"),
            dependency => Assert.DoesNotContain(
                "Analyzers", dependency.Attribute("exclude")?.Value ?? "", StringComparison.Ordinal));
    }

    [Fact]
    public void SkiaPackage_Readme_IsTheGuideWithAddresses()
    {
        string readme = Text("README.md");

        Assert.StartsWith("# SkiaSharp", readme, StringComparison.Ordinal);
        Assert.Contains(
            $"]({SourceCopy.Remote}/blob/{library.Commit}/docs/integrations/../limits.md)", readme, StringComparison.Ordinal);
    }

    /// <summary>The first example of its guide, without a warning of the compiler or of a rule.</summary>
    [Fact]
    public void SkiaConsumer_WithThisPackageAlone_MakesAThumbnail() =>
        Assert.Equal(["1600 x 1200, 400 x 300"], library.Consumers.RunSkia(Photograph));

    /// <summary>What a newcomer types: a new project, the lines of the guide that add packages, and its first example.</summary>
    [Fact]
    public void NewConsoleProject_WithThePackagesAdded_MakesAThumbnail()
    {
        CodeBlock example = CodeBlock.All().First(block => block.Document == "docs/integrations/skiasharp.md");
        string folder = library.Folder("NewSkia");
        library.Dotnet(folder, "new", "console", "--no-restore");
        string[] packages = [.. File.ReadLines(Path.Combine(library.Sources, "docs", "integrations", "skiasharp.md"))
            .Where(static line => line.StartsWith("    dotnet add package ", StringComparison.Ordinal))
            .Select(static line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3])];
        Assert.Equal("Allocator.SkiaSharp", packages[0]);
        library.Dotnet(folder, "add", "package", packages[0], "--version", library.Version, "--source", library.Feed);
        foreach (string package in packages.Skip(1))
        {
            library.Dotnet(folder, "add", "package", package);
        }

        File.WriteAllText(Path.Combine(folder, "Program.cs"), example.Code);
        File.Copy(Photograph, Path.Combine(folder, "photo.jpg"));

        string printed = library.Dotnet(folder, "run");

        Assert.Equal("1600 x 1200, 400 x 300", printed.Trim());
        Assert.InRange(new FileInfo(Path.Combine(folder, "thumbnail.jpg")).Length, 2_000, 200_000);
        Assert.InRange(example.Code.Split('\n').Count(line => line.EndsWith(';')), 1, 10);
    }

    private string Photograph => Path.Combine(
        library.Sources, "tests", "Allocator.SkiaSharp.Tests", "Pictures", "progressive-420.jpg");

    private static string[] Files(string package)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        return [.. archive.Entries.Select(entry => entry.FullName)
            .Where(file => file.StartsWith("lib/", StringComparison.Ordinal)).Order(StringComparer.Ordinal)];
    }

    private string Text(string entry)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.SkiaPackagePath);
        using StreamReader reader = new(archive.GetEntry(entry)!.Open());
        return reader.ReadToEnd();
    }
}

using System.Xml.Linq;

namespace Allocator.PackageTests;

/// <summary>The packages of assemblies beside the library: what lies in them, and what they need.</summary>
[Collection(nameof(PackedLibrary))]
public class CompanionPackageTests(PackedLibrary library)
{
    [Theory]
    [InlineData("Allocator.AspNetCore")]
    [InlineData("Allocator.SkiaSharp")]
    public void Package_ForEachFramework_HasItsAssemblyDocumentationAndSymbols(string package)
    {
        Assert.Equal(
            [$"lib/net10.0/{package}.dll", $"lib/net10.0/{package}.xml", $"lib/net8.0/{package}.dll", $"lib/net8.0/{package}.xml"],
            Files(package, "nupkg"));
        Assert.Equal([$"lib/net10.0/{package}.pdb", $"lib/net8.0/{package}.pdb"], Files(package, "snupkg"));
    }

    /// <summary>The same for both frameworks. Of the library all, its analyzers included.</summary>
    [Theory]
    [InlineData("Allocator.AspNetCore", new string[0], new[] { "Microsoft.AspNetCore.App" })]
    [InlineData("Allocator.SkiaSharp", new[] { "SkiaSharp 3.119.4" }, new string[0])]
    public void Package_Dependencies_AreTheLibraryOfItsVersionAndTheOldestOfWhatItServes(
        string package, string[] others, string[] frameworks)
    {
        XElement[] metadata = [.. XDocument.Parse(Text(package, $"{package}.nuspec")).Descendants()];
        XElement[] dependencies = [.. metadata.Where(element => element.Name.LocalName == "dependency")];

        Assert.Equal(
            Twice([$"Allocator {library.Version}", .. others]),
            dependencies.Select(dependency => $"{dependency.Attribute("id")!.Value} {dependency.Attribute("version")!.Value}").Order());
        Assert.Equal(
            Twice(frameworks),
            metadata.Where(element => element.Name.LocalName == "frameworkReference").Select(element => element.Attribute("name")!.Value));
        Assert.All(
            dependencies.Where(dependency => dependency.Attribute("id")!.Value == "Allocator"),
            dependency => Assert.DoesNotContain("Analyzers", Excluded(dependency), StringComparison.Ordinal));

        // A project that installs this package alone compiles against the others.
        Assert.All(dependencies, dependency => Assert.DoesNotContain("Compile", Excluded(dependency), StringComparison.Ordinal));
    }

    /// <summary>The guide, whose links start from its folder.</summary>
    [Theory]
    [InlineData("Allocator.AspNetCore", "# ASP.NET Core", "configuration.md", "../limits.md")]
    [InlineData("Allocator.SkiaSharp", "# SkiaSharp", "../limits.md")]
    public void Package_Readme_IsTheGuideWithAddresses(string package, string heading, params string[] links)
    {
        string readme = Text(package, "README.md");

        Assert.StartsWith(heading, readme, StringComparison.Ordinal);
        Assert.All(links, link => Assert.Contains(
            $"]({SourceCopy.Remote}/blob/{library.Commit}/docs/integrations/{link})", readme, StringComparison.Ordinal));
    }

    private static IEnumerable<string> Twice(string[] names) => names.Concat(names).Order();

    private static string Excluded(XElement dependency) => dependency.Attribute("exclude")?.Value ?? "";

    private string[] Files(string package, string extension)
    {
        using ZipArchive archive = Open(package, extension);
        return [.. archive.Entries.Select(entry => entry.FullName)
            .Where(file => file.StartsWith("lib/", StringComparison.Ordinal)).Order(StringComparer.Ordinal)];
    }

    private string Text(string package, string entry)
    {
        using ZipArchive archive = Open(package, "nupkg");
        using StreamReader reader = new(archive.GetEntry(entry)!.Open());
        return reader.ReadToEnd();
    }

    private ZipArchive Open(string package, string extension) =>
        ZipFile.OpenRead(Path.Combine(library.Feed, $"{package}.{library.Version}.{extension}"));
}

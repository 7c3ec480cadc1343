using System;
using System.Collections.Generic;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Xml.Linq;
using Xunit;

namespace Allocator.PackageTests;

/// <summary>What lies in the package.</summary>
[Collection(nameof(PackedLibrary))]
public class ContentTests(PackedLibrary library)
{
    private static readonly string[] s_frameworks = ["netstandard2.0", "net8.0", "net10.0"];

    [Fact]
    public void Package_ForEachFramework_HasTheLibraryAndItsDocumentation()
    {
        HashSet<string> files = Files(library.PackagePath);

        Assert.Equal(
            s_frameworks.SelectMany(framework => new[] { $"lib/{framework}/Allocator.dll", $"lib/{framework}/Allocator.xml" }).Order(),
            files.Where(file => file.StartsWith("lib/", StringComparison.Ordinal)).Order());
    }

    [Fact]
    public void Symbols_ForEachFramework_AreInTheirOwnPackage() =>
        Assert.Equal(
            s_frameworks.Select(framework => $"lib/{framework}/Allocator.pdb").Order(),
            Files(library.SymbolsPath).Where(file => file.StartsWith("lib/", StringComparison.Ordinal)).Order());

    [Fact]
    public void Package_Metadata_NamesReadmeAndLicence()
    {
        XElement metadata = Metadata();
        XNamespace space = metadata.Name.Namespace;

        Assert.Contains("README.md", Files(library.PackagePath));
        Assert.Equal("Allocator", metadata.Element(space + "id")?.Value);
        Assert.Equal("README.md", metadata.Element(space + "readme")?.Value);
        Assert.Equal("expression", metadata.Element(space + "license")?.Attribute("type")?.Value);
        Assert.Equal("MIT", metadata.Element(space + "license")?.Value);
        Assert.False(string.IsNullOrWhiteSpace(metadata.Element(space + "description")?.Value));
    }

    [Fact]
    public void Package_Dependencies_AreSystemMemoryOnNetStandardOnly()
    {
        XElement metadata = Metadata();
        XNamespace space = metadata.Name.Namespace;
        Dictionary<string, string[]> groups = metadata.Element(space + "dependencies")!.Elements(space + "group").ToDictionary(
            group => group.Attribute("targetFramework")!.Value,
            group => group.Elements(space + "dependency").Select(dependency => dependency.Attribute("id")!.Value).ToArray());

        Assert.Equal(new[] { ".NETStandard2.0", "net10.0", "net8.0" }, groups.Keys.Order(StringComparer.Ordinal));
        Assert.Equal(new[] { "System.Memory" }, groups[".NETStandard2.0"]);
        Assert.Empty(groups["net8.0"]);
        Assert.Empty(groups["net10.0"]);
    }

    private static HashSet<string> Files(string package)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        return [.. archive.Entries.Select(entry => entry.FullName)];
    }

    private XElement Metadata()
    {
        using ZipArchive archive = ZipFile.OpenRead(library.PackagePath);
        using Stream stream = archive.GetEntry("Allocator.nuspec")!.Open();
        return XDocument.Load(stream).Root!.Elements().Single(element => element.Name.LocalName == "metadata");
    }
}

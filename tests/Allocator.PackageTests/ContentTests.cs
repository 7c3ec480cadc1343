using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Xml.Linq;

namespace Allocator.PackageTests;

/// <summary>What lies in the package.</summary>
[Collection(nameof(PackedLibrary))]
public class ContentTests(PackedLibrary library)
{
    private const string AnalyzerFolder = "analyzers/dotnet/roslyn4.8/cs/";

    private static readonly string[] s_frameworks = ["netstandard2.0", "net8.0", "net10.0"];
    private static readonly string[] s_analyzers =
        [$"{AnalyzerFolder}Allocator.Analyzers.dll", $"{AnalyzerFolder}Allocator.CodeFixes.dll"];

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
    public void Package_Analyzers_AreInTheFolderOfTheOldestCompilerOnly() =>
        Assert.Equal(
            s_analyzers,
            Files(library.PackagePath).Where(file => file.StartsWith("analyzers/", StringComparison.Ordinal)).Order());

    [Fact]
    public void Package_Rules_HaveTheirPages() =>
        Assert.Equal(
            new[] { "ALLOC001", "ALLOC002", "ALLOC003", "ALLOC004", "ALLOC005", "ALLOC006", "README" }
                .Select(page => $"docs/rules/{page}.md"),
            Files(library.PackagePath).Where(file => file.StartsWith("docs/", StringComparison.Ordinal)).Order());

    [Fact]
    public void Package_Switch_IsThereForDirectAndForTransitiveConsumers() =>
        Assert.Equal(
            new[] { "build/Allocator.targets", "buildTransitive/Allocator.targets" },
            Files(library.PackagePath).Where(file => file.StartsWith("build", StringComparison.Ordinal)).Order());

    [Theory]
    [InlineData("Allocator.Analyzers.dll", "Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp")]
    [InlineData("Allocator.CodeFixes.dll", "Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp", "Microsoft.CodeAnalysis.Workspaces")]
    public void Package_Analyzer_RefersToNothingThatTheOldestCompilerHasNot(string file, params string[] compilers)
    {
        Version[] compilerVersions =
        [
            .. ReferencesOf(file).Where(reference => compilers.Contains(reference.Name)).Select(reference => reference.Version!),
        ];

        // Those of 4.8 themselves refer to the first two; the fixes refer to the analyzers, which lie beside them.
        Assert.Subset(
            new HashSet<string?>([.. compilers, "netstandard", "System.Collections.Immutable", "Allocator.Analyzers"]),
            ReferencesOf(file).Select(reference => reference.Name).ToHashSet());
        Assert.Contains(new Version(4, 8, 0, 0), compilerVersions);
        Assert.All(compilerVersions, version => Assert.True(version <= new Version(4, 8, 0, 0), version.ToString()));
        Assert.All(
            ReferencesOf(file).Where(reference => reference.Name == "System.Collections.Immutable"),
            reference => Assert.True(reference.Version <= new Version(7, 0, 0, 0), reference.ToString()));
    }

    [Fact]
    public void Package_Dependencies_AreSpansAndValueTasksOnNetStandardOnly()
    {
        XElement metadata = Metadata();
        XNamespace space = metadata.Name.Namespace;
        Dictionary<string, string[]> groups = metadata.Element(space + "dependencies")!.Elements(space + "group").ToDictionary(
            group => group.Attribute("targetFramework")!.Value,
            group => group.Elements(space + "dependency").Select(dependency => dependency.Attribute("id")!.Value).ToArray());

        Assert.Equal(new[] { ".NETStandard2.0", "net10.0", "net8.0" }, groups.Keys.Order(StringComparer.Ordinal));
        Assert.Equal(new[] { "System.Memory", "System.Threading.Tasks.Extensions" }, groups[".NETStandard2.0"]);
        Assert.Empty(groups["net8.0"]);
        Assert.Empty(groups["net10.0"]);
    }

    private AssemblyName[] ReferencesOf(string analyzer)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.PackagePath);
        using Stream stream = archive.GetEntry(AnalyzerFolder + analyzer)!.Open();
        MemoryStream assembly = new();
        stream.CopyTo(assembly);
        assembly.Position = 0;
        using PEReader reader = new(assembly);
        MetadataReader metadata = reader.GetMetadataReader();
        return [.. metadata.AssemblyReferences.Select(handle => metadata.GetAssemblyReference(handle).GetAssemblyName())];
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

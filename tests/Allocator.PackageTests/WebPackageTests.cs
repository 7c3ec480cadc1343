using System.Diagnostics;
using System.Xml.Linq;
using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>The package for web applications: what lies in it, what it needs, and a new application that has it.</summary>
[Collection(nameof(PackedLibrary))]
public class WebPackageTests(PackedLibrary library)
{
    [Fact]
    public void WebPackage_ForEachFramework_HasItsAssemblyDocumentationAndSymbols()
    {
        Assert.Equal(
            ["lib/net10.0/Allocator.AspNetCore.dll", "lib/net10.0/Allocator.AspNetCore.xml",
                "lib/net8.0/Allocator.AspNetCore.dll", "lib/net8.0/Allocator.AspNetCore.xml"],
            Files(library.WebPackagePath));
        Assert.Equal(
            ["lib/net10.0/Allocator.AspNetCore.pdb", "lib/net8.0/Allocator.AspNetCore.pdb"],
            Files(library.WebSymbolsPath));
    }

    /// <summary>With all of the library, its analyzers included.</summary>
    [Fact]
    public void WebPackage_Dependencies_AreTheLibraryOfItsVersionAndTheSharedFramework()
    {
        XElement metadata = XDocument.Parse(Text("Allocator.AspNetCore.nuspec")).Root!.Elements().Single();
        XElement[] dependencies = [.. metadata.Descendants().Where(element => element.Name.LocalName == "dependency")];
        XElement[] frameworks = [.. metadata.Descendants().Where(element => element.Name.LocalName == "frameworkReference")];

        Assert.Equal(2, dependencies.Length);
        Assert.All(dependencies, dependency => Assert.Equal(
            ("Allocator", library.Version), (dependency.Attribute("id")!.Value, dependency.Attribute("version")!.Value)));
        Assert.All(dependencies, dependency => Assert.DoesNotContain(
            "Analyzers", dependency.Attribute("exclude")?.Value ?? "", StringComparison.Ordinal));
        Assert.Equal(2, frameworks.Length);
        Assert.All(frameworks, framework => Assert.Equal("Microsoft.AspNetCore.App", framework.Attribute("name")!.Value));
    }

    /// <summary>The guide, whose links start from its folder.</summary>
    [Fact]
    public void WebPackage_Readme_IsTheGuideWithAddresses()
    {
        string readme = Text("README.md");
        string folder = $"]({SourceCopy.Remote}/blob/{library.Commit}/docs/integrations/";

        Assert.StartsWith("# ASP.NET Core", readme, StringComparison.Ordinal);
        Assert.Contains(folder + "configuration.md)", readme, StringComparison.Ordinal);
        Assert.Contains(folder + "../limits.md)", readme, StringComparison.Ordinal);
    }

    [Fact]
    public void WebConsumer_WithThisPackageAlone_ServesARequest() => Assert.Equal(["200 1000"], library.Consumers.RunWeb());

    /// <summary>What a newcomer types, as the guide has it: a new project, the package, the first example.</summary>
    [Fact]
    public async Task NewWebProject_WithThePackageAdded_IsTheServiceOfTheGuide()
    {
        string folder = library.Folder("FirstService");
        library.Dotnet(folder, "new", "web", "--no-restore");
        library.Dotnet(folder, "add", "package", "Allocator.AspNetCore", "--version", library.Version, "--source", library.Feed);
        CodeBlock example = CodeBlock.All().First(static block => block.Document == "docs/integrations/aspnetcore.md");
        File.WriteAllText(Path.Combine(folder, "Program.cs"), example.Code);
        Assert.DoesNotContain("warning", library.Dotnet(folder, "build", "--output", "built"), StringComparison.Ordinal);
        ProcessStartInfo start = new("dotnet", ["built/FirstService.dll", "--urls=http://127.0.0.1:0"])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
        };
        using Process process = Process.Start(start)!;
        try
        {
            const string Listening = "Now listening on: ";
            string? line;
            while ((line = await process.StandardOutput.ReadLineAsync())?.Contains(Listening, StringComparison.Ordinal) == false)
            {
            }

            Uri address = new(line![(line!.IndexOf(Listening, StringComparison.Ordinal) + Listening.Length)..]);
            using HttpClient client = new();
            using HttpResponseMessage response =
                await client.PostAsync(new Uri(address, "/thumbnails"), new ByteArrayContent(new byte[200_000]));
            Assert.Equal("5120 x 2880", await response.Content.ReadAsStringAsync());
            // Degraded on a machine that is 90 % full.
            Assert.Contains(await client.GetStringAsync(new Uri(address, "/health")), (string[])["Healthy", "Degraded"]);
        }
        finally
        {
            process.Kill();
        }
    }

    private static string[] Files(string package)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        return [.. archive.Entries.Select(entry => entry.FullName)
            .Where(file => file.StartsWith("lib/", StringComparison.Ordinal)).Order(StringComparer.Ordinal)];
    }

    private string Text(string entry)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.WebPackagePath);
        using StreamReader reader = new(archive.GetEntry(entry)!.Open());
        return reader.ReadToEnd();
    }
}
